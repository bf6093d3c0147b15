import { expect, it } from "vitest";
import { groupNearby, ranges } from "./marks";

it("groups labels that would overlap", () => {
  const nearby = [
    { x: 0, y: 0 },
    { x: 3, y: 4 },
    { x: 100, y: 0 },
  ];
  expect(groupNearby(nearby, 6).map((group) => group.length)).toEqual([2, 1]);
  expect(ranges(["3", "1", "2", "7"])).toBe("1–3, 7");
});
