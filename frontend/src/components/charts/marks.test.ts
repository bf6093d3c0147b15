import { expect, it } from "vitest";
import { freeRight, groupNearby, ranges } from "./marks";

it("groups labels that would overlap", () => {
  const nearby = [
    { x: 0, y: 0 },
    { x: 3, y: 4 },
    { x: 100, y: 0 },
  ];
  expect(groupNearby(nearby, 6).map((group) => group.length)).toEqual([2, 1]);
  expect(ranges(["3", "1", "2", "7"])).toBe("1–3, 7");
});

it("moves a text to the left of those that it would overlap", () => {
  const size = { width: 50, height: 10 };
  const taken = [
    { left: 50, right: 100, top: 0, bottom: 10 },
    { left: 0, right: 35, top: 100, bottom: 110 },
  ];
  expect(freeRight(100, 5, size, taken)).toBe(40);
  expect(freeRight(100, 20, size, taken)).toBe(100);
});
