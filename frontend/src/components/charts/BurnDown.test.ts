import { expect, test } from "vitest";
import { burnDownSpec, declineAt, timeRange, type Point } from "./BurnDown";
import { viewOf } from "./chartSpec";

const DAY = 86_400_000;
const NOW: Point = { at: 10 * DAY, usd: 100 };

test("the axis extends as far into the future as into the past", () => {
  const points = [{ at: 4 * DAY, usd: 150 }, NOW];
  expect(timeRange(points, { earliest: 20 * DAY, likely: 30 * DAY, latest: 40 * DAY })).toEqual([4 * DAY, 16 * DAY]);
});

test("the axis ends when the credits have certainly run out", () => {
  const points = [{ at: 1 * DAY, usd: 150 }, NOW];
  expect(timeRange(points, { earliest: 12 * DAY, likely: 13 * DAY, latest: 14 * DAY })).toEqual([1 * DAY, 14 * DAY]);
});

test("the axis starts at least one day ago", () => {
  expect(timeRange([NOW], null)[0]).toBe(9 * DAY);
});

test("credits decline linearly to zero", () => {
  expect(declineAt(NOW, 20 * DAY, 15 * DAY)).toBe(50);
  expect(declineAt(NOW, 12 * DAY, 15 * DAY)).toBe(0);
  expect(declineAt(NOW, 3 * DAY, 10 * DAY)).toBe(100);
  expect(declineAt(NOW, 3 * DAY, 11 * DAY)).toBe(0);
});

test("the band covers the earliest to the latest run-out, and starts with the current credits", () => {
  const spec = burnDownSpec([{ at: 4 * DAY, usd: 150 }, NOW], 150, 30, { earliest: 12 * DAY, likely: 14 * DAY, latest: 20 * DAY });
  const mark = spec?.series[0]?.mark;
  if (mark?.kind !== "band") throw new Error("no band");
  expect(spec?.xs).toEqual([4, 10, 12, 14, 16].map((days) => days * DAY));
  expect(mark.lower).toEqual([null, 100, 0, 0, 0]);
  expect(mark.upper).toEqual([null, 100, 80, 60, 40]);
});

test("the axis contains credits that are above the grant", () => {
  const spec = burnDownSpec([{ at: 9 * DAY, usd: 163 }, NOW], 150, 30, null);
  if (spec === null) throw new Error("no chart");
  expect(viewOf(spec, null, { width: 600, height: 200 }).y.max).toBeGreaterThanOrEqual(163);
});
