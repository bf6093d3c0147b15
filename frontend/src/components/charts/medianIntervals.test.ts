import { describe, expect, it } from "vitest";
import { medianIntervals } from "./medianIntervals";

/** Deterministic noise. */
const RUNS = Array.from({ length: 200 }, (_, index) => 1 + ((index * 7919) % 101) / 1000);

describe("medianIntervals", () => {
  it("contains the median of every prefix", () => {
    for (const { index, low, high } of medianIntervals(RUNS)) {
      const sorted = RUNS.slice(0, index + 1).sort((a, b) => a - b);
      const median = sorted[Math.floor(index / 2)] ?? 0;
      expect(low).toBeLessThanOrEqual(median);
      expect(high).toBeGreaterThanOrEqual(median);
    }
  });

  it("narrows, and ends with the last sample", () => {
    const intervals = medianIntervals(RUNS);
    const first = intervals[0];
    const last = intervals.at(-1);
    if (first === undefined || last === undefined) throw new Error("no intervals");
    expect(last.high - last.low).toBeLessThan((first.high - first.low) / 2);
    expect(last.index).toBe(RUNS.length - 1);
  });

  it("returns nothing for fewer than five samples", () => {
    expect(medianIntervals([1, 2, 3])).toEqual([]);
  });
});
