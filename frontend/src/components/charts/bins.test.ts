import { describe, expect, it } from "vitest";
import { bins, quantile } from "./bins";

describe("bins", () => {
  it("counts every sample once", () => {
    const samples = Array.from({ length: 100 }, (_, index) => 1 + Math.sin(index) / 10);
    const result = bins(samples);
    expect(result.reduce((sum, bin) => sum + bin.count, 0)).toBe(100);
    expect(result[0]?.from).toBe(Math.min(...samples));
    expect(result.at(-1)?.to).toBeCloseTo(Math.max(...samples));
  });

  it("includes outliers", () => {
    const result = bins([1, 1.01, 1.02, 1.01, 1.03, 9]);
    expect(result.at(-1)?.count).toBe(1);
    expect(result.length).toBeLessThanOrEqual(32);
  });

  it("returns one bin for equal samples and none for no samples", () => {
    expect(bins([2, 2, 2])).toEqual([{ from: 2, to: 2, count: 3 }]);
    expect(bins([])).toEqual([]);
  });

  it("interpolates quantiles between samples", () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([7], 0.9)).toBe(7);
  });
});
