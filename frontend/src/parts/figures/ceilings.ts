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

/** Points that would hide each other, drawn as one: each within `near` of the first of its group. */
export function groups<T extends { x: number; y: number }>(drawn: readonly T[], near: number): T[][] {
  const found: T[][] = [];
  for (const each of drawn) {
    const group = found.find(
      ([first]) => first !== undefined && Math.hypot(first.x - each.x, first.y - each.y) < near,
    );
    if (group) group.push(each);
    else found.push([each]);
  }
  return found;
}

/** Numbers in few characters: `1–3, 7`. */
export function spans(numbers: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const each of [...numbers].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last && each === last[1] + 1) last[1] = each;
    else runs.push([each, each]);
  }
  return runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** A point for each case whose FLOPs count. Both rates have the same time under them, so it cancels out. */
export function points(timings: readonly Timing[]): Point[] {
  return timings.flatMap(({ test_id, name, runtime_ms, gflops, gbps }) =>
    gflops !== null && gflops > 0 && gbps > 0
      ? [{ test_id, name, runtime_ms, gflops, gbps, intensity: gflops / gbps }]
      : [],
  );
}
