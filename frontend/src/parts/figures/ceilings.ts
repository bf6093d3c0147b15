/** The roofline of a submission: the GPU's ceilings, and a point for each timed case. */

export interface Ceilings {
  gpu: string;
  bandwidth_bytes_per_s: number;
  flops_per_s: number;
}

export interface Point {
  test_id: number;
  name: string;
  /** FLOPs of a byte that must be moved. */
  intensity: number;
  gflops: number;
  gbps: number;
  runtime_ms: number;
}

interface Timing {
  test_id: number;
  name: string;
  runtime_ms: number;
  gflops: number | null;
  gbps: number;
}

interface Gpu {
  name: string;
  bandwidth_bytes_per_s: number;
  peak_flops: Readonly<Record<string, number>>;
}

/** What this GPU can do at best with this dtype. */
export function ceilings(gpu: Gpu, dtype: string): Ceilings | null {
  const flops = gpu.peak_flops[dtype] ?? gpu.peak_flops.float32;
  if (flops === undefined) return null;
  return { gpu: gpu.name, bandwidth_bytes_per_s: gpu.bandwidth_bytes_per_s, flops_per_s: flops };
}

/** Where memory and arithmetic take equally long, in FLOPs a byte. */
export function ridge(limits: Ceilings): number {
  return limits.flops_per_s / limits.bandwidth_bytes_per_s;
}

/** The most that is possible at this intensity, in GFLOP/s. */
export function attainable(limits: Ceilings, intensity: number): number {
  return Math.min(limits.flops_per_s, limits.bandwidth_bytes_per_s * intensity) / 1e9;
}

/** A point for each case whose FLOPs count. Both rates have the same time under them, so it cancels out. */
export function points(timings: readonly Timing[]): Point[] {
  return timings.flatMap(({ test_id, name, runtime_ms, gflops, gbps }) =>
    gflops !== null && gflops > 0 && gbps > 0
      ? [{ test_id, name, runtime_ms, gflops, gbps, intensity: gflops / gbps }]
      : [],
  );
}
