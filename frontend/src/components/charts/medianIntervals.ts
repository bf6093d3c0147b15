/** The confidence interval of the median as samples accumulate, from order statistics (no bootstrap). */

export interface MedianInterval {
  /** Index of the last sample that it includes. */
  index: number;
  low: number;
  high: number;
}

const MIN_SAMPLES = 5;
const MAX_INTERVALS = 60;
const Z95 = 1.96;

/** The 95% intervals after up to sixty growing prefixes of the samples. */
export function medianIntervals(runs: readonly number[]): MedianInterval[] {
  const step = Math.max(1, Math.ceil((runs.length - MIN_SAMPLES + 1) / MAX_INTERVALS));
  const intervals: MedianInterval[] = [];
  for (let count = MIN_SAMPLES; count <= runs.length; count += step) intervals.push(intervalOf(runs.slice(0, count)));
  if (runs.length >= MIN_SAMPLES && intervals.at(-1)?.index !== runs.length - 1) intervals.push(intervalOf(runs));
  return intervals;
}

function intervalOf(runs: readonly number[]): MedianInterval {
  const sorted = [...runs].sort((a, b) => a - b);
  const n = sorted.length;
  const reach = (Z95 * Math.sqrt(n)) / 2;
  const low = sorted[Math.max(0, Math.floor((n - 1) / 2 - reach))] ?? 0;
  const high = sorted[Math.min(n - 1, Math.ceil((n - 1) / 2 + reach))] ?? 0;
  return { index: n - 1, low, high };
}
