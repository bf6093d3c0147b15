/** The roofline model: the roofs of a GPU, and a point per timed case. Pure functions. */
import type { Dtype, GpuResponse, Timing } from "../../lib/generated";

/** The two roofs that bound a case: memory bandwidth, and the peak of its dtype. */
export interface Ceilings {
  gpu: string;
  bandwidth_bytes_per_s: number;
  flops_per_s: number;
}

export interface Point {
  test_id: number;
  name: string;
  /** Arithmetic intensity: FLOPs per byte that must be moved. */
  intensity: number;
  gflops: number;
  gbps: number;
  runtime_ms: number;
}

/** A roof that no case can exceed: a slope for a memory, or a horizontal line for a kind of arithmetic. */
export interface Roof {
  name: string;
  /** Bytes per second, or FLOP per second. */
  rate: number;
  kind: "memory" | "arithmetic";
}

/** How close the cases are to the roofline floor, in percent of it: floor divided by median time. */
export interface FloorShare {
  /** Geometric mean over the cases. */
  mean: number;
  lowest: number;
  highest: number;
  cases: number;
}

type CeilingFacts = Pick<GpuResponse, "name" | "bandwidth_bytes_per_s" | "peak_flops">;
type RoofFacts = Pick<GpuResponse, "infinity_cache_bandwidth_bytes_per_s" | "lds_bandwidth_bytes_per_s" | "matrix_peak_flops">;
type FloorFacts = Pick<Timing, "gflops" | "pct_of_floor">;
type PointFacts = Pick<Timing, "test_id" | "name" | "runtime_ms" | "gflops" | "gbps">;

/**
 * The ceilings of a GPU for a dtype; those of float32 if the catalog has none. If a case was judged by a higher peak,
 * such as that of fp8 for a problem whose dtype is float32, the ceiling is that peak.
 */
export function ceilings(gpu: CeilingFacts, dtype: Dtype, timings: readonly FloorFacts[] = []): Ceilings | null {
  const flops = gpu.peak_flops[dtype] ?? gpu.peak_flops.float32;
  if (flops === undefined) return null;
  const judged = timings.map(({ gflops, pct_of_floor: share }) => (gflops === null || !share ? 0 : (gflops * 1e11) / share));
  const peak = Math.max(...judged) > flops * 1.001 ? Math.max(...judged) : flops;
  return { gpu: gpu.name, bandwidth_bytes_per_s: gpu.bandwidth_bytes_per_s, flops_per_s: peak };
}

/** The other roofs of a GPU, which bound only a part of a kernel: nearer memories, and the types of its matrix cores. */
export function otherRoofs(gpu: RoofFacts, limits: Ceilings): Roof[] {
  const types = new Map<number, string[]>();
  for (const [type, rate] of Object.entries(gpu.matrix_peak_flops)) types.set(rate, [...(types.get(rate) ?? []), type]);
  const cache = gpu.infinity_cache_bandwidth_bytes_per_s;
  return [
    ...(cache === null ? [] : [{ name: "Infinity Cache", rate: cache, kind: "memory" as const }]),
    { name: "LDS", rate: gpu.lds_bandwidth_bytes_per_s, kind: "memory" },
    ...[...types]
      .filter(([rate]) => Math.abs(rate / limits.flops_per_s - 1) > 0.001)
      .sort(([a], [b]) => a - b)
      .map(([rate, names]) => ({ name: `Matrix ${names.join(", ")}`, rate, kind: "arithmetic" as const })),
  ];
}

/** Null if no case has a floor, as on the CPU runtime. */
export function floorShare(timings: readonly Pick<Timing, "pct_of_floor">[]): FloorShare | null {
  const shares = timings.flatMap(({ pct_of_floor: share }) => (typeof share === "number" && share > 0 ? [share] : []));
  if (shares.length === 0) return null;
  const mean = Math.exp(shares.reduce((sum, share) => sum + Math.log(share), 0) / shares.length);
  return { mean, lowest: Math.min(...shares), highest: Math.max(...shares), cases: shares.length };
}

/** The ridge point in FLOPs per byte: the intensity at which memory and arithmetic take equally long. */
export function ridge(limits: Ceilings): number {
  return limits.flops_per_s / limits.bandwidth_bytes_per_s;
}

/** The attainable rate at this intensity, in GFLOP/s. */
export function attainable(limits: Ceilings, intensity: number): number {
  return Math.min(limits.flops_per_s, limits.bandwidth_bytes_per_s * intensity) / 1e9;
}

/** A point per case that has a FLOP count. Intensity is the ratio of the two rates: their time cancels out. */
export function points(timings: readonly PointFacts[]): Point[] {
  return timings.flatMap(({ test_id, name, runtime_ms, gflops, gbps }) =>
    gflops !== null && gflops > 0 && gbps > 0
      ? [{ test_id, name, runtime_ms, gflops, gbps, intensity: gflops / gbps }]
      : [],
  );
}
