/** Extract diagnostics with line numbers from a verdict, for the editor. */
import { isFailure, type VerdictEvent } from "../../lib/submissionProgress";
import type { Finding } from "../../lib/generated";

export interface LineDiagnostic {
  line: number;
  /** From 1; null for the whole line. */
  column: number | null;
  severity: "error" | "warning";
  message: string;
}

const COMPILER_MESSAGE = /^[^\s:][^:\n]*:(\d+):(?:(\d+):)? (fatal error|error|warning): (.+)$/gm;

/** Parse compiler messages such as `solution.hip:22:9: error: expected expression`. */
export function compilerDiagnostics(text: string): LineDiagnostic[] {
  return [...text.matchAll(COMPILER_MESSAGE)].map(([, line, column, kind, message]) => ({
    line: Number(line),
    column: column === undefined ? null : Number(column),
    severity: kind === "warning" ? "warning" : "error",
    message: message ?? "",
  }));
}

/** Collect everything in a verdict that refers to a line. */
export function lineDiagnostics(verdict: VerdictEvent): LineDiagnostic[] {
  if (!isFailure(verdict)) {
    return "warnings" in verdict ? fromFindings(verdict.warnings ?? []) : [];
  }
  if (verdict.status === "COMPILE_ERROR") return compilerDiagnostics(verdict.message);
  const diagnostics = fromFindings(verdict.details.findings ?? []);
  const { fault } = verdict.details;
  if (diagnostics.length > 0 || fault?.line === undefined || fault.line === null) return diagnostics;
  return [{ line: fault.line, column: null, severity: "error", message: verdict.message }];
}

function fromFindings(findings: readonly Finding[]): LineDiagnostic[] {
  return findings.flatMap(({ line, severity, message, hint }) =>
    line === null ? [] : [{ line, column: null, severity, message: `${message} ${hint}` }],
  );
}
