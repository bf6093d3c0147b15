import { describe, expect, it } from "vitest";
import { compare, inWords, overall } from "./statistics";

const measured = (ms: number, spread: number): { runtime_ms: number; ci: [number, number] } => ({
  runtime_ms: ms,
  ci: [ms / spread, ms * spread],
});

describe("compare", () => {
  it("calls the one with less time faster where the intervals are apart", () => {
    expect(compare(measured(2, 1.01), measured(1, 1.01))).toMatchObject({ faster: "second", ratio: 2 });
    expect(compare(measured(1, 1.01), measured(2, 1.01))).toMatchObject({ faster: "first", ratio: 0.5 });
  });

  it("does not tell two apart whose difference may be noise", () => {
    expect(compare(measured(1.02, 1.05), measured(1, 1.05))?.faster).toBe("even");
  });

  it("adds the doubts of both", () => {
    const found = compare(measured(1, 1.1), measured(1, 1.1));
    expect(Math.log(found?.high ?? 0)).toBeCloseTo(Math.SQRT2 * Math.log(1.1));
    expect(Math.log(found?.low ?? 0)).toBeCloseTo(-Math.SQRT2 * Math.log(1.1));
  });

  it("compares nothing with a time of nothing", () => {
    expect(compare(measured(0, 1.1), measured(1, 1.1))).toBeNull();
  });
});

describe("overall", () => {
  it("weighs twice as fast and twice as slow alike", () => {
    const pair = [
      compare(measured(2, 1.01), measured(1, 1.01)),
      compare(measured(1, 1.01), measured(2, 1.01)),
    ];
    expect(overall(pair.flatMap((each) => each ?? []))).toMatchObject({ faster: "even" });
    expect(overall([])).toBeNull();
  });
});

describe("inWords", () => {
  it("says a factor above 1, or that there is none", () => {
    expect(inWords({ ratio: 0.5, low: 0.49, high: 0.51, faster: "first" })).toBe("2.00 times as fast");
    expect(inWords({ ratio: 1, low: 0.9, high: 1.1, faster: "even" })).toContain("no difference");
  });
});
