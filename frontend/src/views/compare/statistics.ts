/** Two measurements beside each other: how much faster, and whether that can be told from noise. */

export interface Measurement {
  runtime_ms: number;
  ci: readonly [number, number];
}

export interface Comparison {
  /** Time of the first over time of the second: 2 means that the second takes half. */
  ratio: number;
  /** 95% interval of the ratio. */
  low: number;
  high: number;
  /** Which is faster; `even` where the interval holds 1. */
  faster: "first" | "second" | "even";
}

/** The ratio of two medians. Their logarithms differ, and what each is unsure by adds up as squares do. */
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

/** The same over all cases: the geometric mean of the ratios. */
export function overall(comparisons: readonly Comparison[]): Comparison | null {
  if (comparisons.length === 0) return null;
  const count = comparisons.length;
  const ratio = Math.exp(comparisons.reduce((sum, each) => sum + Math.log(each.ratio), 0) / count);
  const below = Math.hypot(...comparisons.map((each) => Math.log(each.ratio / each.low))) / count;
  const above = Math.hypot(...comparisons.map((each) => Math.log(each.high / each.ratio))) / count;
  const low = ratio * Math.exp(-below);
  const high = ratio * Math.exp(above);
  return { ratio, low, high, faster: low > 1 ? "second" : high < 1 ? "first" : "even" };
}

/** In words: `1.42 times as fast`, `no difference that can be told`. */
export function inWords(comparison: Comparison): string {
  if (comparison.faster === "even") return "no difference that can be told from noise";
  const factor = comparison.faster === "second" ? comparison.ratio : 1 / comparison.ratio;
  return `${factor >= 10 ? factor.toFixed(1) : factor.toFixed(2)} times as fast`;
}
