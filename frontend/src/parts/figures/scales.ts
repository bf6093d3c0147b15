/** Scales of figures: where a value is drawn, and which values are worth a tick. Pure arithmetic. */

export type Scale = (value: number) => number;

/** From a range of values to a range of pixels, straight. */
export function linear(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const [low, high] = domain;
  const span = high - low || 1;
  return (value) => range[0] + ((value - low) / span) * (range[1] - range[0]);
}

/** The same, by orders of magnitude: equal factors are equal distances. */
export function logarithmic(domain: readonly [number, number], range: readonly [number, number]): Scale {
  const scale = linear([Math.log10(domain[0]), Math.log10(domain[1])], range);
  return (value) => scale(Math.log10(value));
}

/** About `count` round values (1, 2 or 5 times a power of ten) within the range. */
export function roundTicks(low: number, high: number, count: number): number[] {
  if (!(high > low) || count < 1) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find((each) => each * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => round((first + index) * step));
}

/** The powers of ten within the range, thinned until at most `most` are left. */
export function decades(low: number, high: number, most = 8): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / most));
  const found: number[] = [];
  for (let exponent = first; exponent <= last; exponent += every) found.push(round(10 ** exponent));
  return found;
}

/** A range of whole decades around the values, with a little air. */
export function decadesAround(values: readonly number[]): [number, number] {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  if (positive.length === 0) return [1, 10];
  const low = 10 ** Math.floor(Math.log10(Math.min(...positive)) - 0.1);
  const high = 10 ** Math.ceil(Math.log10(Math.max(...positive)) + 0.1);
  return [low, high];
}

/** Binary noise such as 0.30000000000000004 is no tick. */
function round(value: number): number {
  return Number(value.toPrecision(12));
}
