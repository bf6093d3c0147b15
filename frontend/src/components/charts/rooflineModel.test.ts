import { describe, expect, it } from "vitest";
import { attainable, ceilings, points, ridge } from "./rooflineModel";

const gpu = {
  name: "MI300X",
  bandwidth_bytes_per_s: 5.3e12,
  peak_flops: { float32: 163.4e12, float16: 1307.4e12 },
};

describe("roofline", () => {
  it("uses the ceiling of the dtype, or of float32 if there is none", () => {
    expect(ceilings(gpu, "float16")?.flops_per_s).toBe(1307.4e12);
    expect(ceilings(gpu, "int32")?.flops_per_s).toBe(163.4e12);
    expect(ceilings({ ...gpu, peak_flops: {} }, "float32")).toBeNull();
  });

  it("is bound by memory below the ridge and by arithmetic above", () => {
    const limits = ceilings(gpu, "float32");
    if (!limits) throw new Error("no ceilings");
    expect(ridge(limits)).toBeCloseTo(30.83, 2);
    expect(attainable(limits, 1)).toBeCloseTo(5300);
    expect(attainable(limits, 1000)).toBeCloseTo(163400);
  });

  it("derives the intensity from the two rates", () => {
    const timings = [
      { test_id: 1, name: "a", runtime_ms: 2, gflops: 100, gbps: 50 },
      { test_id: 2, name: "no FLOPs", runtime_ms: 2, gflops: null, gbps: 50 },
    ];
    expect(points(timings)).toEqual([
      { test_id: 1, name: "a", runtime_ms: 2, gflops: 100, gbps: 50, intensity: 2 },
    ]);
  });
});
