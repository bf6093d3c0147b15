/** An interval of times in one unit: `123.4 – 124.1 µs`. The ends are close, so they have a digit more. */
import { significant } from "../../lib/format";

const UNITS: readonly [number, string][] = [
  [1e-3, "s"],
  [1, "ms"],
  [1e3, "µs"],
  [1e6, "ns"],
];

export function between([low, high]: readonly [number, number]): string {
  const [factor, unit] = UNITS.find(([each]) => high * each >= 1) ?? [1e6, "ns"];
  return `${significant(low * factor, 4)} – ${significant(high * factor, 4)} ${unit}`;
}
