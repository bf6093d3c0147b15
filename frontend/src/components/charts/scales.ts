/** Ticks of chart axes. The first and the last tick are the ends of the axis, and contain all values. Pure functions. */

export type Range = readonly [number, number];

const MANTISSAS = [1, 2, 5];
/** Values beyond a tick by less than this share of the distance between ticks count as being on it. */
const NOISE = 1e-6;

/**
 * Ticks at multiples of 1, 2 or 5 times a power of ten, from at or below `low` to at or above `high`, with at most
 * `limit` intervals (at least two).
 */
export function linearTicks(low: number, high: number, limit: number, integer = false): number[] {
  const [from, to] = widened(low, high);
  const intervals = Math.max(2, Math.floor(limit));
  for (const step of steps((to - from) / intervals)) {
    if (integer && step < 1) continue;
    const first = Math.floor(from / step + NOISE);
    const last = Math.ceil(to / step - NOISE);
    if (last - first <= intervals) {
      return Array.from({ length: last - first + 1 }, (_, index) => rounded((first + index) * step));
    }
  }
  return [from, to];
}

/** Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten if they fit, else every nth power of ten. */
export function logTicks(low: number, high: number, limit: number): number[] {
  const from = low > 0 && Number.isFinite(low) ? low : 1;
  const to = high > from && Number.isFinite(high) ? high : from * 10;
  const intervals = Math.max(2, Math.floor(limit));
  const first = Math.floor(Math.log10(from) + 1e-9);
  const last = Math.ceil(Math.log10(to) - 1e-9);
  const fine = finePowers(first, last).filter(
    (_, index, all) => (all[index + 1] ?? Infinity) > from * (1 + 1e-9) && (all[index - 1] ?? 0) < to * (1 - 1e-9),
  );
  if (fine.length - 1 <= intervals) return fine;
  for (let every = 1; ; every += 1) {
    const start = Math.floor(first / every) * every;
    const count = Math.ceil((last - start) / every);
    if (count <= intervals) return Array.from({ length: count + 1 }, (_, index) => rounded(10 ** (start + index * every)));
  }
}

/** The positions of categories 0 to `count` - 1 within the range, thinned out to at most `limit`; the last is kept. */
export function categoryTicks(low: number, high: number, limit: number): number[] {
  const first = Math.ceil(low - 1e-9);
  const last = Math.floor(high + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, Math.floor(limit))));
  const ticks: number[] = [];
  for (let tick = last; tick >= first; tick -= every) ticks.unshift(tick);
  return ticks;
}

/** The smallest range that contains all finite values; `fallback` if there are none. */
export function extentOf(values: Iterable<number | null | undefined>, fallback: Range = [0, 1]): Range {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : fallback;
}

/** The number of decimals that distinguishes neighboring ticks. */
export function decimalsOfStep(step: number): number {
  return step > 0 ? Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))) : 0;
}

/** 1, 2 and 5 times powers of ten, ascending, starting at or below the rough step. */
function* steps(rough: number): Generator<number> {
  const exponent = Math.floor(Math.log10(rough)) - 1;
  for (let power = exponent; power < exponent + 5; power += 1) {
    for (const mantissa of MANTISSAS) yield mantissa * 10 ** power;
  }
}

function finePowers(first: number, last: number): number[] {
  const ticks: number[] = [];
  for (let exponent = first; exponent < last; exponent += 1) {
    for (const mantissa of MANTISSAS) ticks.push(rounded(mantissa * 10 ** exponent));
  }
  ticks.push(rounded(10 ** last));
  return ticks;
}

/** A range that is not empty: a single value, or values that differ only by noise, get 1% to either side. */
function widened(low: number, high: number): Range {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (high - low > 1e-8 * Math.max(Math.abs(low), Math.abs(high))) return [low, high];
  const margin = Math.abs(low) * 0.01 || 1;
  return [low - margin, high + margin];
}

/** Round off floating-point noise such as 0.30000000000000004. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
