/** Format times: always with their interval, and with no more digits than the interval supports. */
import { gbps, gflops, percent, plural, runtime, significant } from "./format";
import type { Timing } from "./generated";

export type Interval = readonly [number, number];

const UNITS: readonly [number, string][] = [
  [1e-3, "s"],
  [1, "ms"],
  [1e3, "µs"],
  [1e6, "ns"],
];

export const NOISY_EXPLANATION =
  "The machine was busy, so the interval is wide: the true time can be anywhere in it. Measure again before you compare.";

/** The interval, or null if it is unknown. One of width 0 is not an interval. */
export function knownInterval(ci: Interval | null | undefined): Interval | null {
  return ci !== null && ci !== undefined && ci[1] > ci[0] ? ci : null;
}

/** The interval of a timed case. Releases that did not measure windows stored intervals that were too narrow. */
export function timingInterval(timing: Pick<Timing, "ci" | "windows">): Interval | null {
  return (timing.windows ?? []).length === 0 ? null : knownInterval(timing.ci);
}

/** The number of decimals that shows the width of an interval with two digits. */
export function decimalsOf(low: number, high: number): number {
  return Math.min(20, Math.max(0, 1 - Math.floor(Math.log10(high - low))));
}

/** `982 µs (974 to 990)`: a time with its 95% interval, in one unit. */
export function timeText(ms: number | null | undefined, ci: Interval | null | undefined): string {
  if (ms === null || ms === undefined) return "–";
  const interval = knownInterval(ci);
  return interval === null
    ? `${runtime(ms)} (interval unknown)`
    : `${medianText(ms, interval)} (${intervalText(interval, false)})`;
}

/** `982 µs`: a median with the digits of its interval. */
export function medianText(ms: number, ci: Interval | null | undefined): string {
  const interval = knownInterval(ci);
  if (interval === null) return runtime(ms);
  const [factor, unit] = unitOf(interval);
  return `${(ms * factor).toFixed(decimalsOf(interval[0] * factor, interval[1] * factor))} ${unit}`;
}

/** `974 to 990 µs`, or `unknown`. */
export function intervalText(ci: Interval | null | undefined, withUnit = true): string {
  const interval = knownInterval(ci);
  if (interval === null) return "unknown";
  const [factor, unit] = unitOf(interval);
  const [low, high] = [interval[0] * factor, interval[1] * factor];
  const decimals = decimalsOf(low, high);
  return `${low.toFixed(decimals)} to ${high.toFixed(decimals)}${withUnit ? ` ${unit}` : ""}`;
}

function unitOf([, high]: Interval): readonly [number, string] {
  return UNITS.find(([factor]) => high * factor >= 1) ?? [1e6, "ns"];
}

/** `14 pairs of windows`; older results have single samples. */
export function samplesText(timing: Timing): string {
  return (timing.windows ?? []).length > 0
    ? plural(timing.runs.length, "pair of windows", "pairs of windows")
    : plural(timing.runs.length, "sample");
}

/** `3 of 28 windows were disturbed and left out`, or the note of an older result; may be empty. */
export function timingNote(timing: Timing): string {
  const { windows = [], discarded_windows: discarded = 0, note = "" } = timing;
  if (windows.length === 0) return note;
  return discarded === 0 ? "" : `${discarded} of ${plural(windows.length, "window")} were disturbed and left out`;
}

/** Everything but the median, for screens too narrow for columns. */
export function timingSummary(timing: Timing): string {
  const { pct_of_floor: floorPercent = null } = timing;
  const floor = floorPercent === null ? [] : [`${percent(floorPercent)} of roofline`];
  const compute = timing.gflops === null ? [] : [gflops(timing.gflops)];
  const interval = timingInterval(timing);
  const intervalFigure = interval === null ? "interval unknown" : `95%: ${intervalText(interval)}`;
  const figures = [intervalFigure, ...compute, gbps(timing.gbps), ...floor, samplesText(timing)];
  // Allow a line break between two figures, but never between a number and its unit.
  return figures.map((figure) => figure.replaceAll(" ", "\u00a0")).join(" · ");
}

/** Milliseconds for a table of raw measurements. */
export function milliseconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? "–" : `${significant(ms, 4)} ms`;
}
