import { describe, expect, it } from "vitest";
import { attainable, ceilings, floorShare, otherRoofs, points, ridge } from "./rooflineModel";

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

  it("uses the peak by which a case was judged, if it is higher", () => {
    const fp8 = { gflops: 500_000, pct_of_floor: 20 };
    expect(ceilings(gpu, "float32", [fp8])?.flops_per_s).toBeCloseTo(2500e12, -9);
    expect(ceilings(gpu, "float32", [{ gflops: 81.7e3, pct_of_floor: 50 }])?.flops_per_s).toBe(163.4e12);
    expect(ceilings(gpu, "float32", [{ gflops: 1, pct_of_floor: null }])?.flops_per_s).toBe(163.4e12);
  });

  it("lists nearer memories and matrix types, without the roof that is drawn anyway", () => {
    const limits = ceilings(gpu, "float32");
    if (!limits) throw new Error("no ceilings");
    const matrix = { fp32: 163.4e12, fp8: 2614.9e12, int8: 2614.9e12, fp16: 1307.4e12 };
    const facts = { infinity_cache_bandwidth_bytes_per_s: 17.2e12, lds_bandwidth_bytes_per_s: 81.7e12, matrix_peak_flops: matrix };
    expect(otherRoofs(facts, limits).map(({ name }) => name)).toEqual(["Infinity Cache", "LDS", "Matrix fp16", "Matrix fp8, int8"]);
    expect(otherRoofs({ ...facts, infinity_cache_bandwidth_bytes_per_s: null }, limits)[0]?.name).toBe("LDS");
  });

  it("averages the shares of the floor geometrically", () => {
    const share = floorShare([{ pct_of_floor: 25 }, { pct_of_floor: 100 }]);
    expect(share?.mean).toBeCloseTo(50);
    expect(share).toMatchObject({ lowest: 25, highest: 100, cases: 2 });
    expect(floorShare([{ pct_of_floor: null }, {}])).toBeNull();
  });
});
