import { expect, test } from "vitest";
import { band, falling, range, type Point } from "./BurnDown";

const DAY = 86_400_000;
const NOW: Point = { at: 10 * DAY, usd: 100 };

test("as much is shown ahead as behind", () => {
  const points = [{ at: 4 * DAY, usd: 150 }, NOW];
  expect(range(points, { soonest: 20 * DAY, likely: 30 * DAY, latest: 40 * DAY })).toEqual([4 * DAY, 16 * DAY]);
});

test("no more is shown ahead than there is to come", () => {
  const points = [{ at: 1 * DAY, usd: 150 }, NOW];
  expect(range(points, { soonest: 12 * DAY, likely: 13 * DAY, latest: 14 * DAY })).toEqual([1 * DAY, 14 * DAY]);
});

test("the first day has a day behind it", () => {
  expect(range([NOW], null)[0]).toBe(9 * DAY);
});

test("credits fall straight to nothing, or to the edge of the picture", () => {
  expect(falling(NOW, 20 * DAY, 15 * DAY)).toEqual([NOW, { at: 15 * DAY, usd: 50 }]);
  expect(falling(NOW, 12 * DAY, 15 * DAY)).toEqual([NOW, { at: 12 * DAY, usd: 0 }]);
  expect(falling(NOW, 3 * DAY, 15 * DAY)).toEqual([NOW, { at: 10 * DAY, usd: 0 }]);
});

test("the band lies between the soonest and the latest end", () => {
  expect(band(NOW, { soonest: 12 * DAY, likely: 14 * DAY, latest: 20 * DAY }, 15 * DAY)).toEqual([
    NOW,
    { at: 12 * DAY, usd: 0 },
    { at: 15 * DAY, usd: 0 },
    { at: 15 * DAY, usd: 50 },
  ]);
});
