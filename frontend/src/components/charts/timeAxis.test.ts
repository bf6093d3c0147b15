import { expect, test } from "vitest";
import { tickLabel, timeTicks } from "./timeAxis";

const HOUR = 3_600_000;
const NOON = new Date(2026, 0, 31, 12, 0, 0).getTime();

test("ticks are at round times within the range, up to the limit", () => {
  const ticks = timeTicks(NOON - 24 * HOUR + 1, NOON, 9);
  expect(ticks.length).toBeLessThanOrEqual(9);
  expect(ticks.map((at) => new Date(at).getHours())).toEqual([15, 18, 21, 0, 3, 6, 9, 12]);
});

test("an hour has ticks every quarter", () => {
  expect(timeTicks(NOON - HOUR, NOON, 6).map((at) => tickLabel(at, HOUR))).toEqual([
    "11:00",
    "11:15",
    "11:30",
    "11:45",
    "12:00",
  ]);
});

test("a month has ticks at days", () => {
  const ticks = timeTicks(NOON - 31 * 24 * HOUR, NOON, 5);
  expect(ticks.length).toBeGreaterThan(2);
  expect(ticks.length).toBeLessThanOrEqual(5);
  expect(tickLabel(NOON, 31 * 24 * HOUR)).toBe("31 Jan");
});

test("an empty range has no ticks", () => {
  expect(timeTicks(NOON, NOON, 5)).toEqual([]);
});
