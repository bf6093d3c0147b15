import { describe, expect, it } from "vitest";
import { intervalText, timingSummary } from "./timingText";

describe("intervalText", () => {
  it("prints one unit, chosen by the upper end", () => {
    expect(intervalText([0.1234, 0.12412])).toBe("123.4 – 124.1 µs");
    expect(intervalText([0.9996, 1.002])).toBe("0.9996 – 1.002 ms");
    expect(intervalText([1500, 2500])).toBe("1.500 – 2.500 s");
    expect(intervalText([1e-7, 2e-7])).toBe("0.1000 – 0.2000 ns");
  });
});

describe("timingSummary", () => {
  const timing = { test_id: 1, name: "", runtime_ms: 0.0308, outer_ms: 0.0308, note: "", runs: [0.0308], gbps: 4350 };
  const ci: [number, number] = [0.03076, 0.03094];

  it("prints every figure with its unit", () => {
    expect(timingSummary({ ...timing, ci, gflops: 544, pct_of_floor: 82.14 }).replaceAll("\u00a0", " ")).toBe(
      "30.76 – 30.94 µs · 544 GFLOP/s · 4.35 TB/s · 82.1% of roofline · 1 sample",
    );
  });

  it("allows line breaks only between figures", () => {
    expect(timingSummary({ ...timing, ci, gflops: 544, pct_of_floor: null })).toContain(" · 544\u00a0GFLOP/s · ");
  });

  it("omits unknown figures", () => {
    expect(timingSummary({ ...timing, ci, gflops: null, pct_of_floor: null }).split(" · ")).toHaveLength(3);
  });
});
