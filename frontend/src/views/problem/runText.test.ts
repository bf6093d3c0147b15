import { describe, expect, it } from "vitest";
import { applyEvents, initialProgress } from "../../lib/submissionProgress";
import type { QuoteResponse, SubmissionEvent } from "../../lib/generated";
import { headline, quoteText, simulationText, tabTitle } from "./runText";

const QUOTE: QuoteResponse = {
  now: "",
  problem: "relu",
  gpu_type: "MI300X",
  endpoint: "submit",
  vm_state: "WARM_REUSE",
  position: 0,
  wait_s: 0,
  total_s: 9.2,
  cost_usd: 0.005,
  warm_chance: 0,
  simulated: false,
  refusal: null,
};

describe("quoteText", () => {
  it("gives warm or cold start, duration and cost", () => {
    expect(quoteText(QUOTE)).toBe("warm start, about 9 s, $0.005");
    expect(quoteText({ ...QUOTE, vm_state: "COLD_START", total_s: 430, cost_usd: 0.24, position: 2 })).toBe(
      "cold start, about 7 min, $0.24, 2 ahead of you",
    );
  });

  it("says what the chance refers to", () => {
    const chances = [0.004, 0.857, 0.995, 1].map((warm_chance) => quoteText({ ...QUOTE, warm_chance }).split(" · ")[1]);
    expect(chances).toEqual([
      undefined,
      "86% chance that a VM is still warm if you submit within about a minute",
      "over 99% chance that a VM is still warm if you submit within about a minute",
      "over 99% chance that a VM is still warm if you submit within about a minute",
    ]);
    expect(quoteText({ ...QUOTE, vm_state: null, warm_chance: 1 })).not.toContain("chance");
  });

  it("says that results are simulated", () => {
    expect(simulationText({ ...QUOTE, simulated: true, cost_usd: 0 })).toBe("Simulated on this machine's CPU, free");
  });
});

describe("tabTitle and headline", () => {
  it("show the state of the run", () => {
    const queued = { id: 1, time: "2026-01-31T12:00:00Z", status: "IN_QUEUE", position: 1, quote: {} } as unknown as SubmissionEvent;
    const wrong = { id: 2, time: "2026-01-31T12:00:01Z", status: "WRONG_ANSWER", details: {} } as unknown as SubmissionEvent;
    const progress = applyEvents(initialProgress("checker"), [queued]);
    expect(tabTitle("ReLU", progress)).toBe("… Queued · ReLU");
    expect(headline(progress)).toBe("Queued");
    expect(tabTitle("ReLU", applyEvents(progress, [wrong]))).toBe("✗ Wrong answer · ReLU");
  });
});
