import { describe, expect, it } from "vitest";
import { compare, comparisonText, overall } from "./statistics";

const measured = (ms: number, spread: number): { runtime_ms: number; ci: [number, number] } => ({
  runtime_ms: ms,
  ci: [ms / spread, ms * spread],
});

describe("compare", () => {
  it("reports the faster one if the intervals do not overlap", () => {
    expect(compare(measured(2, 1.01), measured(1, 1.01))).toMatchObject({ faster: "second", ratio: 2 });
    expect(compare(measured(1, 1.01), measured(2, 1.01))).toMatchObject({ faster: "first", ratio: 0.5 });
  });

  it("reports no difference within the noise", () => {
    expect(compare(measured(1.02, 1.05), measured(1, 1.05))?.faster).toBe("even");
  });

  it("combines the uncertainties of both", () => {
    const result = compare(measured(1, 1.1), measured(1, 1.1));
    expect(Math.log(result?.high ?? 0)).toBeCloseTo(Math.SQRT2 * Math.log(1.1));
    expect(Math.log(result?.low ?? 0)).toBeCloseTo(-Math.SQRT2 * Math.log(1.1));
  });

  it("does not compare a time of zero", () => {
    expect(compare(measured(0, 1.1), measured(1, 1.1))).toBeNull();
  });
});

describe("overall", () => {
  it("gives equal weight to twice as fast and twice as slow", () => {
    const pair = [
      compare(measured(2, 1.01), measured(1, 1.01)),
      compare(measured(1, 1.01), measured(2, 1.01)),
    ];
    expect(overall(pair.flatMap((item) => item ?? []))).toMatchObject({ faster: "even" });
    expect(overall([])).toBeNull();
  });
});

describe("comparisonText", () => {
  it("gives a factor above 1, or no difference", () => {
    expect(comparisonText({ ratio: 0.5, low: 0.49, high: 0.51, faster: "first" })).toBe("2.00 times as fast");
    expect(comparisonText({ ratio: 1, low: 0.9, high: 1.1, faster: "even" })).toContain("no significant difference");
  });
});
