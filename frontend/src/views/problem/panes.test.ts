import { expect, test } from "vitest";
import { DEFAULT_SIZES, parseSizes, resize } from "./panes";

test("a size stays within its limits, and leaves the editor a quarter", () => {
  expect(resize(DEFAULT_SIZES, "statement", 1).statement).toBe(12);
  expect(resize(DEFAULT_SIZES, "dockHeight", 200).dockHeight).toBe(75);
  const wideDock = resize(DEFAULT_SIZES, "dock", 60);
  expect(wideDock.dock).toBe(53);
  expect(resize(wideDock, "statement", 40).statement).toBe(22);
});

test("stored sizes are restored; invalid ones are replaced", () => {
  const sizes = resize(DEFAULT_SIZES, "dock", 41.26);
  expect(parseSizes(JSON.stringify(sizes))).toEqual({ ...DEFAULT_SIZES, dock: 41.3 });
  expect(parseSizes('{"dock": "wide", "statement": 900}')).toEqual({ ...DEFAULT_SIZES, statement: 40 });
  expect(parseSizes("nonsense")).toEqual(DEFAULT_SIZES);
  expect(parseSizes("null")).toEqual(DEFAULT_SIZES);
});
