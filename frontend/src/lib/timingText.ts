/** Format a timing as one line, and an interval with one unit: `123.4 – 124.1 µs`. */
import { gbps, gflops, percent, plural, significant } from "./format";
import type { Timing } from "./generated";

const UNITS: readonly [number, string][] = [
  [1e-3, "s"],
  [1, "ms"],
  [1e3, "µs"],
  [1e6, "ns"],
];

/** Format an interval of milliseconds. Its ends are close together, so they get four digits instead of three. */
export function intervalText([low, high]: readonly [number, number]): string {
  const [factor, unit] = UNITS.find(([factor]) => high * factor >= 1) ?? [1e6, "ns"];
  return `${significant(low * factor, 4)} – ${significant(high * factor, 4)} ${unit}`;
}

/** Everything but the median, for screens too narrow for columns. */
export function timingSummary(timing: Timing): string {
  const { pct_of_floor: floorPercent = null } = timing;
  const floor = floorPercent === null ? [] : [`${percent(floorPercent)} of roofline`];
  const compute = timing.gflops === null ? [] : [gflops(timing.gflops)];
  const figures = [intervalText(timing.ci), ...compute, gbps(timing.gbps), ...floor, plural(timing.runs.length, "sample")];
  // Allow a line break between two figures, but never between a number and its unit.
  return figures.map((figure) => figure.replaceAll(" ", "\u00a0")).join(" · ");
}
