/** The roofline model: the ceilings of a GPU, and a point per timed case. */
import type { Dtype, GpuResponse, Timing } from "../../lib/generated";

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

/** Group points that would overlap: each is within `distance` of the first point of its group. */
export function groupNearby<T extends { x: number; y: number }>(points: readonly T[], distance: number): T[][] {
  const groups: T[][] = [];
  for (const point of points) {
    const group = groups.find(
      ([first]) => first !== undefined && Math.hypot(first.x - point.x, first.y - point.y) < distance,
    );
    if (group) group.push(point);
    else groups.push([point]);
  }
  return groups;
}

/** Abbreviate a list of numbers: `1–3, 7`. */
export function ranges(numbers: readonly number[]): string {
  const result: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = result.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else result.push([number, number]);
  }
  return result.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** A point per case that has a FLOP count. Intensity is the ratio of the two rates: their time cancels out. */
export function points(timings: readonly PointFacts[]): Point[] {
  return timings.flatMap(({ test_id, name, runtime_ms, gflops, gbps }) =>
    gflops !== null && gflops > 0 && gbps > 0
      ? [{ test_id, name, runtime_ms, gflops, gbps, intensity: gflops / gbps }]
      : [],
  );
}
