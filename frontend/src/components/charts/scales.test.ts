import { describe, expect, it } from "vitest";
import { decades, decadesAround, linear, logarithmic, roundTicks } from "./scales";

describe("scales", () => {
  it("maps the ends of the values to the ends of the pixels", () => {
    const scale = linear([2, 4], [0, 100]);
    expect([scale(2), scale(3), scale(4)]).toEqual([0, 50, 100]);
  });

  it("gives equal factors equal distances", () => {
    const scale = logarithmic([1, 100], [0, 100]);
    expect(scale(10)).toBeCloseTo(50);
    expect(scale(20) - scale(10)).toBeCloseTo(scale(2) - scale(1));
  });

  it("does not divide by zero for an empty range", () => {
    expect(linear([3, 3], [0, 100])(3)).toBe(0);
  });

  it("places ticks at round values", () => {
    expect(roundTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(roundTicks(0.13, 0.19, 3)).toEqual([0.14, 0.16, 0.18]);
    expect(roundTicks(5, 5, 4)).toEqual([5]);
  });

  it("thins out the powers of ten", () => {
    expect(decades(0.1, 100)).toEqual([0.1, 1, 10, 100]);
    expect(decades(1, 1e9, 5)).toEqual([1, 100, 1e4, 1e6, 1e8]);
  });

  it("adds a margin around values and accepts no values", () => {
    expect(decadesAround([3, 40])).toEqual([1, 100]);
    expect(decadesAround([1])).toEqual([0.1, 10]);
    expect(decadesAround([0, -1, Number.NaN])).toEqual([1, 10]);
  });
});
