import { describe, expect, it } from "vitest";
import { compare, comparisonText, conclusion, mean, type Measurement } from "./statistics";

const measured = (ms: number, spread: number): Measurement => ({ runtime_ms: ms, ci: [ms / spread, ms * spread] });

describe("compare", () => {
  it("names the faster one if the intervals are separate, with the factors that they allow", () => {
    const comparison = compare(measured(2, 1.01), measured(1, 1.01));
    expect(comparison).toMatchObject({ faster: "second" });
    expect(comparison?.factor).toBeCloseTo(2);
    expect(comparison?.low).toBeCloseTo(2 / 1.01 ** 2);
    expect(comparison?.high).toBeCloseTo(2 * 1.01 ** 2);
    expect(compare(measured(1, 1.01), measured(2, 1.01))?.faster).toBe("first");
  });

  it("finds no difference if the intervals overlap or touch", () => {
    expect(compare(measured(1.02, 1.05), measured(1, 1.05))?.faster).toBe("even");
    expect(compare({ runtime_ms: 1, ci: [0.9, 1.1] }, { runtime_ms: 1.2, ci: [1.1, 1.3] })?.faster).toBe("even");
  });

  it("does not call one file faster than itself on a busy machine", () => {
    const quiet: Measurement = { runtime_ms: 0.98, ci: [0.97, 0.99] };
    const busy: Measurement = { runtime_ms: 2.76, ci: [0.95, 3.9] };
    expect(compare(quiet, busy)?.faster).toBe("even");
    const separate = compare(quiet, { runtime_ms: 1.84, ci: [1.83, 1.85] });
    expect(separate?.faster).toBe("first");
    expect(separate && conclusion(separate, true)).toBe("The code is the same");
  });

  it("assumes 10% to either side if an interval is unknown", () => {
    expect(compare({ runtime_ms: 1, ci: null }, measured(1.09, 1.001))?.faster).toBe("even");
    expect(compare({ runtime_ms: 1, ci: null }, measured(1.3, 1.001))?.faster).toBe("first");
  });

  it("does not compare a time of zero", () => {
    expect(compare(measured(0, 1.1), measured(1, 1.1))).toBeNull();
  });
});

describe("mean", () => {
  it("gives equal weight to twice as fast and twice as slow", () => {
    expect(mean([measured(2, 1.01), measured(0.5, 1.01)])?.runtime_ms).toBeCloseTo(1);
    expect(mean([])).toBeNull();
  });

  it("does not narrow the interval, and has none if one is unknown", () => {
    expect(mean([measured(1, 1.1), measured(1, 1.1)])?.ci?.[1]).toBeCloseTo(1.1);
    expect(mean([measured(1, 1.1), { runtime_ms: 1, ci: null }])?.ci).toBeNull();
  });
});

describe("comparisonText", () => {
  it("gives the factor with its interval, or no difference", () => {
    expect(comparisonText({ faster: "first", factor: 1.9, low: 1.8, high: 2 })).toBe("A is 1.90 times as fast as B (1.80 to 2.00)");
    expect(comparisonText({ faster: "second", factor: 1.02, low: 1.004, high: 1.03 })).toBe("B is 1.020 times as fast as A (1.004 to 1.030)");
    expect(comparisonText({ faster: "even", factor: 1, low: 1, high: 1 })).toBe("no measurable difference");
  });
});
