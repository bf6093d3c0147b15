/** Compare two timings: the ratio, and whether it is significant. */

export interface Measurement {
  runtime_ms: number;
  ci: readonly [number, number];
}

export interface Comparison {
  /** Time of the first divided by time of the second: 2 means that the second is twice as fast. */
  ratio: number;
  /** 95% interval of the ratio. */
  low: number;
  high: number;
  /** Which is faster; `even` if the interval contains 1. */
  faster: "first" | "second" | "even";
}

/** The ratio of two medians. On a logarithmic scale the squares of their uncertainties add up. */
export function compare(first: Measurement, second: Measurement): Comparison | null {
  const values = [first.runtime_ms, second.runtime_ms, ...first.ci, ...second.ci];
  if (!values.every((value) => value > 0 && Number.isFinite(value))) return null;
  const ratio = first.runtime_ms / second.runtime_ms;
  const below = Math.hypot(
    Math.log(first.runtime_ms / first.ci[0]),
    Math.log(second.ci[1] / second.runtime_ms),
  );
  const above = Math.hypot(
    Math.log(first.ci[1] / first.runtime_ms),
    Math.log(second.runtime_ms / second.ci[0]),
  );
  const low = ratio * Math.exp(-below);
  const high = ratio * Math.exp(above);
  return { ratio, low, high, faster: low > 1 ? "second" : high < 1 ? "first" : "even" };
}

/** The geometric mean of the ratios of all cases. */
export function overall(comparisons: readonly Comparison[]): Comparison | null {
  if (comparisons.length === 0) return null;
  const count = comparisons.length;
  const ratio = Math.exp(comparisons.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / count);
  const below = Math.hypot(...comparisons.map((item) => Math.log(item.ratio / item.low))) / count;
  const above = Math.hypot(...comparisons.map((item) => Math.log(item.high / item.ratio))) / count;
  const low = ratio * Math.exp(-below);
  const high = ratio * Math.exp(above);
  return { ratio, low, high, faster: low > 1 ? "second" : high < 1 ? "first" : "even" };
}

/** `1.42 times as fast`, or `no significant difference`. */
export function comparisonText(comparison: Comparison): string {
  if (comparison.faster === "even") return "no significant difference";
  const factor = comparison.faster === "second" ? comparison.ratio : 1 / comparison.ratio;
  return `${factor >= 10 ? factor.toFixed(1) : factor.toFixed(2)} times as fast`;
}
