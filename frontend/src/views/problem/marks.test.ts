import { describe, expect, it } from "vitest";
import type { Ending } from "../../lib/story";
import { complaints, marksOf } from "./marks";

const MESSAGE = "solution.hip:22:9: error: expected expression\n 22 | int x = ;\n    |         ^\nsolution.hip:3: warning: unused: x";

describe("marks on the editor's lines", () => {
  it("come from the compiler's own words, with line and column", () => {
    expect(complaints(MESSAGE)).toEqual([
      { line: 22, column: 9, severity: "error", message: "expected expression" },
      { line: 3, column: null, severity: "warning", message: "unused: x" },
    ]);
  });

  it("come from the bug finder where it has a line, else from the fault", () => {
    const fault = { fault: "memory-fault", kernel: "k", line: 7, block: null, thread: null, detail: "" };
    const finding = { line: 4, severity: "error", message: "out of bounds.", hint: "Compare the index." };
    const ending = (details: object): Ending =>
      ({ id: 1, time: "", status: "RUNTIME_ERROR", code: "", message: "It faulted.", hint: "", details }) as Ending;
    expect(marksOf(ending({ fault, findings: [finding] })).map((mark) => mark.line)).toEqual([4]);
    expect(marksOf(ending({ fault, findings: [{ ...finding, line: null }] })).map((mark) => mark.line)).toEqual([7]);
    expect(marksOf(ending({}))).toEqual([]);
  });
});
