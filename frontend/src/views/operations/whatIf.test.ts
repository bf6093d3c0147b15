import { describe, expect, it } from "vitest";
import type { WhatIf } from "../../lib/types";
import { waysOf, whatIfText } from "./whatIf";

const TOLD: WhatIf = {
  since: "2026-11-01T00:00:00Z",
  tasks: 385,
  spent_usd: 41.2,
  simulated: false,
  items: [
    { policy: "best possible", best: true, usd: 36.1, wait_mean_s: 9, cold_starts: 21, cost_usd: 55.3 },
    { policy: "fixed 10 minutes", best: false, usd: 78.9, wait_mean_s: 31, cold_starts: 35, cost_usd: 145.2 },
  ],
};

describe("this month as it might have been", () => {
  it("is one sentence with three sums", () => {
    expect(whatIfText(TOLD)).toBe(
      "This month $41.20; with fixed 10 minutes it would have been $78.90; the best possible was $36.10.",
    );
  });

  it("names every policy that was tried", () => {
    const adaptive = { policy: "adaptive", best: false, usd: 39, wait_mean_s: 12, cold_starts: 24, cost_usd: 64.7 };
    expect(whatIfText({ ...TOLD, items: [...TOLD.items, adaptive] })).toContain(
      "with fixed 10 minutes it would have been $78.90; with adaptive $39.00; the best",
    );
  });

  it("calls simulated dollars so, and says where nothing was paid at all", () => {
    expect(whatIfText({ ...TOLD, simulated: true })).toContain("This month $41.20 simulated;");
    expect(whatIfText({ ...TOLD, simulated: true, spent_usd: 0 })).toBe(
      "This month was free; in the cloud, with fixed 10 minutes it would have been $78.90; the best possible was $36.10.",
    );
  });

  it("is bars of one scale, what was paid first and the best last", () => {
    const ways = waysOf(TOLD);
    expect(ways.map((way) => way.name)).toEqual(["as it was", "fixed 10 minutes", "best possible"]);
    expect(ways.map((way) => Math.round(100 * way.share))).toEqual([52, 100, 46]);
    expect(ways.map((way) => way.coldStarts)).toEqual([null, 35, 21]);
  });

  it("has no bars longer than nothing where nothing cost anything", () => {
    const free = { ...TOLD, spent_usd: 0, items: TOLD.items.map((each) => ({ ...each, usd: 0 })) };
    expect(waysOf(free).map((way) => way.share)).toEqual([0, 0, 0]);
  });
});
