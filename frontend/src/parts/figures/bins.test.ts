import { describe, expect, it } from "vitest";
import { bins, quantile } from "./bins";

describe("bins", () => {
  it("counts every sample once", () => {
    const samples = Array.from({ length: 100 }, (_, index) => 1 + Math.sin(index) / 10);
    const found = bins(samples);
    expect(found.reduce((sum, bin) => sum + bin.count, 0)).toBe(100);
    expect(found[0]?.from).toBe(Math.min(...samples));
    expect(found.at(-1)?.to).toBeCloseTo(Math.max(...samples));
  });

  it("leaves no outlier out", () => {
    const found = bins([1, 1.01, 1.02, 1.01, 1.03, 9]);
    expect(found.at(-1)?.count).toBe(1);
    expect(found.length).toBeLessThanOrEqual(32);
  });

  it("draws equal samples as one bar and none as no bar", () => {
    expect(bins([2, 2, 2])).toEqual([{ from: 2, to: 2, count: 3 }]);
    expect(bins([])).toEqual([]);
  });

  it("finds quantiles between samples", () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([7], 0.9)).toBe(7);
  });
});
