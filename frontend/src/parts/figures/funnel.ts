/** The interval of a median as samples come in: from order statistics, so that it needs no random draws. */

export interface Band {
  /** After this many samples, less one. */
  at: number;
  low: number;
  high: number;
}

const MIN_SAMPLES = 5;
const MOST_BANDS = 60;
const Z95 = 1.96;

/** The 95% interval after each of up to sixty counts of samples. */
export function funnel(runs: readonly number[]): Band[] {
  const step = Math.max(1, Math.ceil((runs.length - MIN_SAMPLES + 1) / MOST_BANDS));
  const bands: Band[] = [];
  for (let count = MIN_SAMPLES; count <= runs.length; count += step) bands.push(bandOf(runs.slice(0, count)));
  if (runs.length >= MIN_SAMPLES && bands.at(-1)?.at !== runs.length - 1) bands.push(bandOf(runs));
  return bands;
}

function bandOf(runs: readonly number[]): Band {
  const sorted = [...runs].sort((a, b) => a - b);
  const n = sorted.length;
  const reach = (Z95 * Math.sqrt(n)) / 2;
  const low = sorted[Math.max(0, Math.floor((n - 1) / 2 - reach))] ?? 0;
  const high = sorted[Math.min(n - 1, Math.ceil((n - 1) / 2 + reach))] ?? 0;
  return { at: n - 1, low, high };
}
