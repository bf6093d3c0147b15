import { describe, expect, it } from "vitest";
import { categoryTicks, decimalsOfStep, extentOf, linearTicks, logTicks } from "./scales";

/** Deterministic ranges of many magnitudes. */
function ranges(): [number, number][] {
  let seed = 1;
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
  return Array.from({ length: 2000 }, () => {
    const low = (random() - 0.3) * 10 ** Math.floor(random() * 12 - 6);
    return [low, low + random() * 10 ** Math.floor(random() * 12 - 6)];
  });
}

describe("linear ticks", () => {
  it("are round", () => {
    expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(0.13, 0.19, 3)).toEqual([0.1, 0.15, 0.2]);
    expect(linearTicks(0, 3, 10, true)).toEqual([0, 1, 2, 3]);
  });

  it("end at or beyond the data, and are at most as many as fit", () => {
    for (const [low, high] of ranges()) {
      for (const limit of [2, 3, 7]) {
        const ticks = linearTicks(low, high, limit);
        const slack = 1e-6 * ((ticks.at(-1) ?? 0) - (ticks[0] ?? 0)); // less than a pixel
        expect(ticks[0]).toBeLessThanOrEqual(low + slack);
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(high - slack);
        expect(ticks.length - 1).toBeLessThanOrEqual(limit);
      }
    }
  });

  it("contain a single value", () => {
    const ticks = linearTicks(5, 5, 4);
    expect(ticks[0]).toBeLessThan(5);
    expect(ticks.at(-1)).toBeGreaterThan(5);
    expect(linearTicks(0, 0, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(linearTicks(Number.NaN, 1, 2)).toEqual([0, 0.5, 1]);
  });
});

describe("logarithmic ticks", () => {
  it("are powers of ten, or 1, 2 and 5 times them", () => {
    expect(logTicks(0.1, 100, 5)).toEqual([0.1, 1, 10, 100]);
    expect(logTicks(3, 40, 6)).toEqual([2, 5, 10, 20, 50]);
    expect(logTicks(1, 1e9, 5)).toEqual([1, 100, 1e4, 1e6, 1e8, 1e10]);
  });

  it("end at or beyond the data, and are at most as many as fit", () => {
    for (const [first, second] of ranges()) {
      const low = Math.abs(first) + 1e-9;
      const high = low * (1 + Math.abs(second));
      for (const limit of [2, 4, 9]) {
        const ticks = logTicks(low, high, limit);
        expect(ticks[0]).toBeLessThanOrEqual(low * (1 + 1e-8));
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(high * (1 - 1e-8));
        expect(ticks.length - 1).toBeLessThanOrEqual(limit);
      }
    }
  });

  it("accept values that have no logarithm", () => {
    expect(logTicks(0, -1, 4)).toEqual([1, 2, 5, 10]);
    expect(logTicks(Number.NaN, Number.NaN, 4)).toEqual([1, 2, 5, 10]);
  });
});

it("categories are thinned out from the last", () => {
  expect(categoryTicks(-0.5, 4.5, 9)).toEqual([0, 1, 2, 3, 4]);
  expect(categoryTicks(-0.5, 6.5, 3)).toEqual([0, 3, 6]);
});

it("the extent ignores what is not a number", () => {
  expect(extentOf([3, null, 1, Number.NaN, undefined, 2])).toEqual([1, 3]);
  expect(extentOf([], [4, 5])).toEqual([4, 5]);
});

it("labels have the decimals of the step", () => {
  expect([100, 1, 0.5, 0.25, 0.02].map(decimalsOfStep)).toEqual([0, 0, 1, 1, 2]);
});
