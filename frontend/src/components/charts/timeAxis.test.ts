import { expect, test } from "vitest";
import { tickLabel, timeTicks } from "./timeAxis";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = new Date(2026, 0, 31, 12, 0, 0).getTime();

test("ticks are at round times around the range, up to the limit", () => {
  const ticks = timeTicks(NOON - DAY + 1, NOON - 1, 9);
  expect(ticks.length).toBeLessThanOrEqual(10);
  expect(ticks.map((at) => new Date(at).getHours())).toEqual([12, 15, 18, 21, 0, 3, 6, 9, 12]);
});

test("the ends contain the range, at every length", () => {
  for (let length = 1000; length < 4e11; length *= 1.7) {
    for (const limit of [2, 5, 12]) {
      const ticks = timeTicks(NOON - length, NOON, limit);
      expect(ticks[0]).toBeLessThanOrEqual(NOON - length);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(NOON);
      expect(ticks.length - 1).toBeLessThanOrEqual(limit);
      expect(timeTicks(ticks[0] ?? 0, ticks.at(-1) ?? 0, limit)).toEqual(ticks);
    }
  }
});

test("an hour has ticks every quarter", () => {
  const ticks = timeTicks(NOON - HOUR, NOON, 5);
  expect(ticks.map((at) => tickLabel(at, HOUR / 4))).toEqual(["11:00", "11:15", "11:30", "11:45", "12:00"]);
});

test("labels are seconds, times of day or dates", () => {
  expect(tickLabel(NOON, 10_000)).toBe("12:00:00");
  expect(tickLabel(NOON, HOUR)).toBe("12:00");
  expect(tickLabel(NOON, 7 * DAY)).toBe("31 Jan");
});

test("an empty range still has ticks", () => {
  const ticks = timeTicks(NOON, NOON, 5);
  expect(ticks[0]).toBe(NOON);
  expect(ticks.at(-1)).toBe(NOON + 60_000);
});
