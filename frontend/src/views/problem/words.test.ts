import { describe, expect, it } from "vitest";
import { begin, tell } from "../../lib/story";
import type { Offer, StreamEvent } from "../../lib/types";
import { actionOf, headline, offerText, standInText, titleOf } from "./words";

const OFFER: Offer = {
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

describe("what it will take", () => {
  it("says warm or cold, how long, and what it costs", () => {
    expect(offerText(OFFER)).toBe("warm, about 9 s, $0.005");
    expect(offerText({ ...OFFER, vm_state: "COLD_START", total_s: 430, cost_usd: 0.24, position: 2 })).toBe(
      "cold, about 7 min, $0.24, 2 before you",
    );
  });

  it("says how likely a VM is warm by the time that it is sent", () => {
    const chances = [0.004, 0.857, 0.995, 1].map((warm_chance) => offerText({ ...OFFER, warm_chance }).split(" · ")[1]);
    expect(chances).toEqual([
      undefined,
      "86% chance of a warm VM",
      "over 99% chance of a warm VM",
      "over 99% chance of a warm VM",
    ]);
    expect(offerText({ ...OFFER, vm_state: null, warm_chance: 1 })).not.toContain("chance");
  });

  it("calls a stand-in what it is", () => {
    expect(standInText({ ...OFFER, simulated: true, cost_usd: 0 })).toBe("simulated on this machine's CPU, free");
  });
});

describe("the tab's title", () => {
  it("carries the state", () => {
    const queued = { id: 1, time: "2026-01-31T12:00:00Z", status: "IN_QUEUE", position: 1, quote: {} } as unknown as StreamEvent;
    const wrong = { id: 2, time: "2026-01-31T12:00:01Z", status: "WRONG_ANSWER", details: {} } as unknown as StreamEvent;
    const story = tell(begin("checker"), [queued]);
    expect(titleOf("ReLU", story)).toBe("… in the queue · ReLU");
    expect(headline(story)).toBe("In the queue");
    expect(titleOf("ReLU", tell(story, [wrong]))).toBe("✗ Wrong answer · ReLU");
  });
});

describe("shortcuts", () => {
  const press = (keys: object): ReturnType<typeof actionOf> =>
    actionOf({ key: "Enter", ctrlKey: true, metaKey: false, shiftKey: false, altKey: false, ...keys });

  it("run with Ctrl+Enter, and more with Shift and Alt", () => {
    expect([press({}), press({ shiftKey: true }), press({ altKey: true })]).toEqual(["checker", "benchmark", "submit"]);
    expect([press({ ctrlKey: false }), press({ key: "a" })]).toEqual([null, null]);
  });
});
