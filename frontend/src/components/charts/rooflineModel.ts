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

type CeilingFacts = Pick<GpuResponse, "name" | "bandwidth_bytes_per_s" | "peak_flops">;
type PointFacts = Pick<Timing, "test_id" | "name" | "runtime_ms" | "gflops" | "gbps">;

/** The ceilings of a GPU for a dtype; those of float32 if the catalogue has none. */
export function ceilings(gpu: CeilingFacts, dtype: Dtype): Ceilings | null {
  const flops = gpu.peak_flops[dtype] ?? gpu.peak_flops.float32;
  if (flops === undefined) return null;
  return { gpu: gpu.name, bandwidth_bytes_per_s: gpu.bandwidth_bytes_per_s, flops_per_s: flops };
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
