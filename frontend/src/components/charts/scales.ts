/** Chart scales and ticks. Pure functions. */

export type Scale = (value: number) => number;

/** Map a range of values linearly to a range of pixels. */
export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain;
  const span = high - low || 1;
  return (value) => range[0] + ((value - low) / span) * (range[1] - range[0]);
}

/** Map a range of values logarithmically: equal factors have equal distances. */
export function logarithmic(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const scale = linear([Math.log10(domain[0]), Math.log10(domain[1])], range);
  return (value) => scale(Math.log10(value));
}

/** About `count` ticks within the range, at 1, 2 or 5 times a power of ten. */
export function roundTicks(low: number, high: number, count: number): number[] {
  if (!(high > low) || count < 1) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => round((first + index) * step));
}

/** The powers of ten within the range, thinned out to at most `limit`. */
export function decades(low: number, high: number, limit = 8): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / limit));
  const ticks: number[] = [];
  for (let exponent = first; exponent <= last; exponent += every) ticks.push(round(10 ** exponent));
  return ticks;
}

/** The range of whole decades around the values, with some margin. */
export function decadesAround(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)) - 0.1);
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive)) + 0.1);
  return [low, high];
}

/** Round off floating-point noise such as 0.30000000000000004. */
function round(value: number): number {
  return Number(value.toPrecision(12));
}
