import { expect, test } from "vitest";
import { declineLine, forecastBand, timeRange, type Point } from "./BurnDown";

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

test("credits decline linearly to zero or to the edge of the chart", () => {
  expect(declineLine(NOW, 20 * DAY, 15 * DAY)).toEqual([NOW, { at: 15 * DAY, usd: 50 }]);
  expect(declineLine(NOW, 12 * DAY, 15 * DAY)).toEqual([NOW, { at: 12 * DAY, usd: 0 }]);
  expect(declineLine(NOW, 3 * DAY, 15 * DAY)).toEqual([NOW, { at: 10 * DAY, usd: 0 }]);
});

test("the band covers the earliest to the latest run-out", () => {
  expect(forecastBand(NOW, { earliest: 12 * DAY, likely: 14 * DAY, latest: 20 * DAY }, 15 * DAY)).toEqual([
    NOW,
    { at: 12 * DAY, usd: 0 },
    { at: 15 * DAY, usd: 0 },
    { at: 15 * DAY, usd: 50 },
  ]);
});
