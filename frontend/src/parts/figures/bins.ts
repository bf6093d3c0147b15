/** How samples fall into the bars of a histogram. */

export interface Bin {
  from: number;
  to: number;
  count: number;
}

const MOST_BINS = 32;

/**
 * Bars of equal width over all samples, none left out. The width is Freedman's and Diaconis', which goes by
 * the quartiles, so that one slow sample does not make a single bar of all others until the bars run out.
 */
export function bins(samples: readonly number[]): Bin[] {
  const sorted = samples.filter(Number.isFinite).sort((a, b) => a - b);
  const low = sorted[0];
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) return [];
  if (low === high) return [{ from: low, to: high, count: sorted.length }];
  const width = (2 * (quantile(sorted, 0.75) - quantile(sorted, 0.25))) / Math.cbrt(sorted.length);
  const wanted = width > 0 ? Math.ceil((high - low) / width) : Math.ceil(Math.sqrt(sorted.length));
  const count = Math.min(Math.max(wanted, 4), MOST_BINS);
  const found = Array.from({ length: count }, (_, index) => ({
    from: low + ((high - low) * index) / count,
    to: low + ((high - low) * (index + 1)) / count,
    count: 0,
  }));
  for (const sample of sorted) {
    const place = Math.min(Math.floor(((sample - low) / (high - low)) * count), count - 1);
    const bin = found[place];
    if (bin) bin.count += 1;
  }
  return found;
}

/** The value below which this share of sorted samples lies, between samples by proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? below;
  return below + (above - below) * (place - Math.floor(place));
}
