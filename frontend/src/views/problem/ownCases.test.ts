import { expect, test } from "vitest";
import type { CaseParameter } from "../../lib/generated";
import { caseName, parseCases, readForm } from "./ownCases";

const N: CaseParameter = { name: "n", kind: "size", low: 1, high: 1100, step: 1, shape: null };
const ALPHA: CaseParameter = { name: "alpha", kind: "number", low: 0, high: 2, step: 1, shape: null };
const SHAPE: CaseParameter = { name: "shape", kind: "shape", low: null, high: 1000, step: 1, shape: null };

test("a filled form is a case", () => {
  const { ownCase } = readForm([N, ALPHA, SHAPE], { n: " 17", alpha: "0.5", shape: "2 x 3x4" }, "wide");
  expect(ownCase).toEqual({ values: { n: 17, alpha: 0.5, shape: [2, 3, 4] }, style: "wide" });
  expect(ownCase && caseName(ownCase)).toBe("n = 17, alpha = 0.5, shape = 2x3x4, wide");
});

test.each([
  ["n", ""],
  ["n", "0"],
  ["n", "-3"],
  ["n", "1.5"],
  ["n", "ten"],
  ["alpha", "NaN"],
  ["alpha", "2.5"],
  ["shape", "2x"],
])("%s = '%s' is an error that names the value", (name, text) => {
  const { errors } = readForm([N, ALPHA, SHAPE], { n: "1", alpha: "1", shape: "2", [name]: text }, "normal");
  expect(Object.keys(errors ?? {})).toEqual([name]);
  expect(errors?.[name]).toContain(text === "" ? "Empty" : `“${text}”`);
});

test("an unreadable stored list is dropped", () => {
  expect(parseCases("[")).toEqual([]);
  expect(parseCases('{"a": 1}')).toEqual([]);
  expect(parseCases('[{"values": {"n": 1}, "style": null}, 3]')).toEqual([{ values: { n: 1 }, style: null }]);
});
