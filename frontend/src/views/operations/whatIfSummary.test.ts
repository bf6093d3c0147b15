import { describe, expect, it } from "vitest";
import type { WhatIfResponse } from "../../lib/generated";
import { policyRows, replayText, whatIfText } from "./whatIfSummary";

const DATA: WhatIfResponse = {
  since: "2026-11-01T00:00:00Z",
  tasks: 385,
  completed: 380,
  wait_value_usd_per_h: 20,
  adaptive: "",
  spent_usd: 41.2,
  simulated: false,
  items: [
    { policy: "best possible", best: true, usd: 36.1, wait_mean_s: 9, cold_starts: 21, cost_usd: 55.3 },
    { policy: "fixed 10 minutes", best: false, usd: 78.9, wait_mean_s: 31, cold_starts: 35, cost_usd: 145.2 },
  ],
};

describe("what-if", () => {
  it("is summarized in one sentence", () => {
    expect(whatIfText(DATA)).toBe(
      "This month cost $41.20; with fixed 10 minutes it would have cost $78.90; the best possible is $36.10.",
    );
  });

  it("says how many of the replayed submissions are completed", () => {
    expect(replayText(DATA)).toBe("Replay of 385 submissions that got a VM this month: 380 completed, 5 cancelled, failed or running");
    expect(replayText({ ...DATA, tasks: 1, completed: 1 })).toBe("Replay of 1 submission that got a VM this month, all completed");
  });

  it("lists every simulated policy", () => {
    const adaptive = { policy: "adaptive", best: false, usd: 39, wait_mean_s: 12, cold_starts: 24, cost_usd: 64.7 };
    expect(whatIfText({ ...DATA, items: [...DATA.items, adaptive] })).toContain(
      "with fixed 10 minutes it would have cost $78.90; with adaptive $39.00; the best",
    );
  });

  it("labels simulated dollars, and says if nothing was billed", () => {
    expect(whatIfText({ ...DATA, simulated: true })).toContain("This month cost $41.20 simulated;");
    expect(whatIfText({ ...DATA, simulated: true, spent_usd: 0 })).toBe(
      "This month was free; in a cloud, with fixed 10 minutes it would have cost $78.90; the best possible is $36.10.",
    );
  });

  it("has a row per policy on one scale, actual first and best last", () => {
    const rows = policyRows(DATA);
    expect(rows.map(({ name }) => name)).toEqual(["actual", "fixed 10 minutes", "best possible"]);
    expect(rows.map(({ share }) => Math.round(100 * share))).toEqual([52, 100, 46]);
    expect(rows.map(({ coldStarts }) => coldStarts)).toEqual([null, 35, 21]);
  });

  it("has empty bars if nothing cost anything", () => {
    const free = { ...DATA, spent_usd: 0, items: DATA.items.map((item) => ({ ...item, usd: 0 })) };
    expect(policyRows(free).map(({ share }) => share)).toEqual([0, 0, 0]);
  });
});
