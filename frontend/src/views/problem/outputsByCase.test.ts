import { describe, expect, it } from "vitest";
import type { VerdictEvent } from "../../lib/submissionProgress";
import { outputsByCase } from "./outputsByCase";

const verdict = (fields: object): VerdictEvent => fields as VerdictEvent;

describe("outputsByCase", () => {
  it("marks the output of the case that failed", () => {
    const details = { output_by_case: { "n = 1": "fine", "n = 8": "thread 3", "n = 9": " \n" } };
    expect(outputsByCase(verdict({ status: "WRONG_ANSWER", case: "n = 8", details, output: "finethread 3 \n" }))).toEqual([
      { name: "n = 1", text: "fine", failed: false },
      { name: "n = 8", text: "thread 3", failed: true },
    ]);
  });

  it("has the output of each case that passed", () => {
    const test_results = [
      { test_id: 1, name: "n = 1", status: "PASSED", output: "hello" },
      { test_id: 2, name: "n = 2", status: "PASSED" },
    ];
    expect(outputsByCase(verdict({ status: "CHECKED", test_results, output: "hello" }))).toEqual([
      { name: "n = 1", text: "hello", failed: false },
    ]);
  });

  it("has what was printed before the first case without a name", () => {
    const test_results = [{ test_id: 1, name: "n = 1", status: "PASSED", output: "hello" }];
    expect(outputsByCase(verdict({ status: "CHECKED", test_results, output: "loadinghello" }))[0]).toEqual({
      name: "",
      text: "loading",
      failed: false,
    });
  });

  it("falls back to the whole output", () => {
    expect(outputsByCase(verdict({ status: "BENCHMARKED", test_results: [], output: "hello" }))).toEqual([
      { name: "", text: "hello", failed: false },
    ]);
    expect(outputsByCase(verdict({ status: "TIME_LIMIT_EXCEEDED", details: {}, output: "" }))).toEqual([]);
  });
});
