/** Ticks and labels of a time axis. Pure functions. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND,
  MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
  HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
];

/** Ticks at round times of the browser's time zone, from at or before `from` to at or after `to`, at most `limit` intervals. */
export function timeTicks(from: number, to: number, limit: number): number[] {
  const end = to > from ? to : from + MINUTE;
  const intervals = Math.max(2, Math.floor(limit));
  const zone = new Date(end).getTimezoneOffset() * MINUTE;
  for (const step of timeSteps()) {
    const first = Math.floor((from - zone) / step);
    const last = Math.ceil((end - zone) / step);
    if (last - first <= intervals) return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step + zone);
  }
  return [from, end];
}

function* timeSteps(): Generator<number> {
  yield* STEPS;
  for (let days = 2; days < 10_000; days += 1) yield days * DAY;
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

/** A tick as seconds, as a time of day or as a date, depending on the distance between ticks. */
export function tickLabel(at: number, stepMs: number): string {
  if (stepMs < MINUTE) return `${clock(at)}:${twoDigits(new Date(at).getSeconds())}`;
  return stepMs < DAY ? clock(at) : day(at);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
