/** Ticks and labels of a time axis. Pure functions. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];

/** At most `limit` ticks at round times of the browser's time zone. */
export function timeTicks(from: number, to: number, limit: number): number[] {
  if (!(to > from) || limit < 1) return [];
  const fitting = STEPS.find((step) => (to - from) / step <= limit - 1);
  const step = fitting ?? Math.ceil((to - from) / DAY / Math.max(1, limit - 1)) * DAY;
  const zone = new Date(to).getTimezoneOffset() * MINUTE;
  const ticks: number[] = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) ticks.push(at);
  return ticks;
}

/** `14:30`. */
export function clock(at: number): string {
  const date = new Date(at);
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** `31 Jan`. */
export function day(at: number): string {
  return new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

/** `2026-01-31` as `31 Jan`. Days of the ledger are UTC in every time zone. */
export function utcDay(iso: string): string {
  return new Date(iso).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
}

/** A time of day on an axis of up to two days, else a date. */
export function tickLabel(at: number, spanMs: number): string {
  return spanMs <= 2 * DAY ? clock(at) : day(at);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
