/** What a timing says in one line, and its interval in one unit: `123.4 – 124.1 µs`. */
import { gbps, gflops, percent, plural, significant } from "./format";
import type { Timing } from "./types";

const UNITS: readonly [number, string][] = [
  [1e-3, "s"],
  [1, "ms"],
  [1e3, "µs"],
  [1e6, "ns"],
];

/** The ends are close, so they have a digit more. */
export function between([low, high]: readonly [number, number]): string {
  const [factor, unit] = UNITS.find(([each]) => high * each >= 1) ?? [1e6, "ns"];
  return `${significant(low * factor, 4)} – ${significant(high * factor, 4)} ${unit}`;
}

/** Everything but the time itself, for where there is no room for columns. */
export function figuresOf(timing: Timing): string {
  const floor = timing.pct_of_floor === null ? [] : [`${percent(timing.pct_of_floor)} of the floor`];
  const speed = timing.gflops === null ? [] : [gflops(timing.gflops)];
  const figures = [between(timing.ci), ...speed, gbps(timing.gbps), ...floor, plural(timing.runs.length, "sample")];
  // A line may break between two figures, never between a number and its unit.
  return figures.map((figure) => figure.replaceAll(" ", "\u00a0")).join(" · ");
}
