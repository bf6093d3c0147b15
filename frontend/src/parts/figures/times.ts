/** Moments on an axis: which are worth a tick, and how they are written. Pure. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];

/** Round moments between two, at most `most`, in the reader's zone. */
export function timeTicks(from: number, to: number, most: number): number[] {
  if (!(to > from) || most < 1) return [];
  const fitting = STEPS.find((each) => (to - from) / each <= most - 1);
  const step = fitting ?? Math.ceil((to - from) / DAY / Math.max(1, most - 1)) * DAY;
  const zone = new Date(to).getTimezoneOffset() * MINUTE;
  const found: number[] = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) found.push(at);
  return found;
}

/** `14:30`. */
export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** `31 Jan`. */
export function day(at: number): string {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

/** A day of the ledger, `2026-01-31`, as `31 Jan`: it is UTC's wherever the reader is. */
export function utcDay(iso: string): string {
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

/** The clock on an axis of hours, the day on an axis of days. */
export function tickName(at: number, spanMs: number): string {
  return spanMs <= 2 * DAY ? clock(at) : day(at);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
