/** Compare two times by their intervals: if the intervals overlap, neither is reported as faster. */
import { decimalsOf, type Interval } from "../../lib/timingText";

export interface Measurement {
  runtime_ms: number;
  /** 95% interval; null if unknown. */
  ci: Interval | null;
}

export interface Comparison {
  /** Which is faster; `even` if the intervals overlap. */
  faster: "first" | "second" | "even";
  /** By which factor: the ratio of the times; 1 if even. */
  factor: number;
  /** The smallest and the largest factor that the intervals allow; 1 and 1 if even. */
  low: number;
  high: number;
}

/** How far a time is assumed to be uncertain to either side if its interval is unknown; as on the leaderboard. */
const UNKNOWN_WIDTH = 0.1;

export function compare(first: Measurement, second: Measurement): Comparison | null {
  const a = possible(first);
  const b = possible(second);
  if (![...a, ...b].every((value) => value > 0 && Number.isFinite(value))) return null;
  if (a[1] < b[0]) return { faster: "first", factor: second.runtime_ms / first.runtime_ms, low: b[0] / a[1], high: b[1] / a[0] };
  if (b[1] < a[0]) return { faster: "second", factor: first.runtime_ms / second.runtime_ms, low: a[0] / b[1], high: a[1] / b[0] };
  return { faster: "even", factor: 1, low: 1, high: 1 };
}

/** The interval by which a time is compared: assumed if it is unknown. */
function possible({ runtime_ms: ms, ci }: Measurement): Interval {
  return ci ?? [ms / (1 + UNKNOWN_WIDTH), ms * (1 + UNKNOWN_WIDTH)];
}

/** The geometric mean over cases, and of the ends of their intervals, as in a verdict: errors of one run do not cancel. */
export function mean(measurements: readonly Measurement[]): Measurement | null {
  if (measurements.length === 0) return null;
  const intervals = measurements.flatMap(({ ci }) => (ci === null ? [] : [ci]));
  return {
    runtime_ms: geometricMean(measurements.map(({ runtime_ms }) => runtime_ms)),
    ci:
      intervals.length < measurements.length
        ? null
        : [geometricMean(intervals.map(([low]) => low)), geometricMean(intervals.map(([, high]) => high))],
  };
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** `B is 1.90 times as fast as A (1.80 to 2.00)`, or `no measurable difference`. */
export function comparisonText(comparison: Comparison): string {
  const { faster, factor, low, high } = comparison;
  if (faster === "even") return "no measurable difference";
  const [winner, loser] = faster === "first" ? ["A", "B"] : ["B", "A"];
  const decimals = decimalsOf(low, high);
  return `${winner} is ${factor.toFixed(decimals)} times as fast as ${loser} (${low.toFixed(decimals)} to ${high.toFixed(decimals)})`;
}

/** The first sentence of a comparison. The same code is never reported as faster than itself. */
export function conclusion(comparison: Comparison, sameCode: boolean): string {
  if (sameCode) return "The code is the same";
  const text = comparisonText(comparison);
  return comparison.faster === "even" ? `Overall: ${text}` : `Overall, ${text}`;
}
