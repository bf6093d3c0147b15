import { describe, expect, it } from "vitest";
import { funnel } from "./funnel";

/** Noise that is the same every time. */
const RUNS = Array.from({ length: 200 }, (_, at) => 1 + ((at * 7919) % 101) / 1000);

describe("the funnel of an interval", () => {
  it("holds the median at every count", () => {
    for (const { at, low, high } of funnel(RUNS)) {
      const sorted = RUNS.slice(0, at + 1).sort((a, b) => a - b);
      const median = sorted[Math.floor(at / 2)] ?? 0;
      expect(low).toBeLessThanOrEqual(median);
      expect(high).toBeGreaterThanOrEqual(median);
    }
  });

  it("closes in, and ends with the last sample", () => {
    const bands = funnel(RUNS);
    const first = bands[0];
    const last = bands.at(-1);
    if (first === undefined || last === undefined) throw new Error("no bands");
    expect(last.high - last.low).toBeLessThan((first.high - first.low) / 2);
    expect(last.at).toBe(RUNS.length - 1);
  });

  it("says nothing of a handful of samples", () => {
    expect(funnel([1, 2, 3])).toEqual([]);
  });
});
