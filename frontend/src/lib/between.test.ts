import { describe, expect, it } from "vitest";
import { between, figuresOf } from "./between";

describe("between", () => {
  it("says the unit once, by the larger end", () => {
    expect(between([0.1234, 0.12412])).toBe("123.4 – 124.1 µs");
    expect(between([0.9996, 1.002])).toBe("0.9996 – 1.002 ms");
    expect(between([1500, 2500])).toBe("1.500 – 2.500 s");
    expect(between([1e-7, 2e-7])).toBe("0.1000 – 0.2000 ns");
  });
});

describe("a timing in one line", () => {
  const timing = { test_id: 1, name: "", runtime_ms: 0.0308, outer_ms: 0.0308, note: "", runs: [0.0308], gbps: 4350 };
  const ci: [number, number] = [0.03076, 0.03094];

  it("has each figure with its unit", () => {
    expect(figuresOf({ ...timing, ci, gflops: 544, pct_of_floor: 82.14 }).replaceAll("\u00a0", " ")).toBe(
      "30.76 – 30.94 µs · 544 GFLOP/s · 4.35 TB/s · 82.1% of the floor · 1 sample",
    );
  });

  it("breaks between figures alone", () => {
    expect(figuresOf({ ...timing, ci, gflops: 544, pct_of_floor: null })).toContain(" · 544\u00a0GFLOP/s · ");
  });

  it("leaves out what is not known", () => {
    expect(figuresOf({ ...timing, ci, gflops: null, pct_of_floor: null }).split(" · ")).toHaveLength(3);
  });
});
