/** Group samples into histogram bins. */

export interface Bin {
  from: number;
  to: number;
  count: number;
}

const MAX_BINS = 32;

/**
 * Bins of equal width over all samples. The width follows the Freedman–Diaconis rule, which uses the quartiles,
 * so that a single outlier does not squeeze all other samples into one bin.
 */
export function bins(samples: readonly number[]): Bin[] {
  const sorted = samples.filter(Number.isFinite).sort((a, b) => a - b);
  const low = sorted[0];
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return [];
  if (low === high) return [{ from: low, to: high, count: sorted.length }];
  const width = (2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25))) / Math.cbrt(sorted.length);
  const ideal = width > 0 ? Math.ceil((high - low) / width) : Math.ceil(Math.sqrt(sorted.length));
  const count = Math.min(Math.max(ideal, 4), MAX_BINS);
  const result = Array.from({ length: count }, (_, position) => ({
    from: low + ((high - low) * position) / count,
    to: low + ((high - low) * (position + 1)) / count,
    count: 0,
  }));
  for (const sample of sorted) {
    const index = Math.min(Math.floor(((sample - low) / (high - low)) * count), count - 1);
    const bin = result[index];
    if (bin) bin.count += 1;
  }
  return result;
}

/** The quantile of sorted samples, with linear interpolation. */
export function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? below;
  return below + (above - below) * (position - Math.floor(position));
}
