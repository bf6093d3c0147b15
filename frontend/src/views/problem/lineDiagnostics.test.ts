import { describe, expect, it } from "vitest";
import type { VerdictEvent } from "../../lib/submissionProgress";
import { compilerDiagnostics, lineDiagnostics } from "./lineDiagnostics";

const MESSAGE = "solution.hip:22:9: error: expected expression\n 22 | int x = ;\n    |         ^\nsolution.hip:3: warning: unused: x";

describe("diagnostics", () => {
  it("are parsed from compiler messages, with line and column", () => {
    expect(compilerDiagnostics(MESSAGE)).toEqual([
      { line: 22, column: 9, severity: "error", message: "expected expression" },
      { line: 3, column: null, severity: "warning", message: "unused: x" },
    ]);
  });

  it("come from the bug finder's findings, else from the fault", () => {
    const fault = { fault: "memory-fault", kernel: "k", line: 7, block: null, thread: null, detail: "" };
    const finding = { line: 4, severity: "error", message: "out of bounds.", hint: "Compare the index." };
    const verdict = (details: object): VerdictEvent =>
      ({ id: 1, time: "", status: "RUNTIME_ERROR", code: "", message: "It faulted.", hint: "", details }) as VerdictEvent;
    expect(lineDiagnostics(verdict({ fault, findings: [finding] })).map(({ line }) => line)).toEqual([4]);
    expect(lineDiagnostics(verdict({ fault, findings: [{ ...finding, line: null }] })).map(({ line }) => line)).toEqual([7]);
    expect(lineDiagnostics(verdict({}))).toEqual([]);
  });
});
