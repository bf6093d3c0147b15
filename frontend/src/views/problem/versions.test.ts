import { expect, test } from "vitest";
import type { SubmissionResponse } from "../../lib/generated";
import { comparisonPath, representative, versions } from "./versions";

const submission = (id: string, code: string, minute: number, ms: number | null = null, dtype = "float32"): SubmissionResponse =>
  ({ id, code_sha256: code, dtype, avg_runtime_ms: ms, created_at: `2026-01-01T00:0${minute}:00Z` }) as SubmissionResponse;

const LIST = [submission("d", "x", 4), submission("c", "y", 3), submission("b", "x", 2, 1.5), submission("a", "x", 1, 1.4, "float16")];

test("submissions of the same code and dtype are one version", () => {
  expect(versions(LIST).map((version) => version.submissions.map(({ id }) => id))).toEqual([["d", "b"], ["c"], ["a"]]);
  expect(versions([])).toEqual([]);
});

test("a version is compared by a submission that has a time", () => {
  expect(versions(LIST).map((version) => representative(version).id)).toEqual(["b", "c", "a"]);
});

test("a comparison has the older submission on the left", () => {
  const [newer, older] = [LIST[0], LIST[1]] as [SubmissionResponse, SubmissionResponse];
  expect(comparisonPath(newer, older)).toBe("/compare/c/d");
  expect(comparisonPath(older, newer)).toBe("/compare/c/d");
});
