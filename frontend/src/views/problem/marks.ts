/** Lines of the source that a verdict speaks of, as marks for the editor. */
import { isFailure, type Ending } from "../../lib/story";
import type { Finding } from "../../lib/types";

export interface Mark {
  line: number;
  /** From 1; null where the whole line is meant. */
  column: number | null;
  severity: "error" | "warning";
  message: string;
}

const COMPLAINT = /^[^\s:][^:\n]*:(\d+):(?:(\d+):)? (fatal error|error|warning): (.+)$/gm;

/** What a compiler says, in the author's lines: `solution.hip:22:9: error: expected expression`. */
export function complaints(text: string): Mark[] {
  return [...text.matchAll(COMPLAINT)].map(([, line, column, kind, message]) => ({
    line: Number(line),
    column: column === undefined ? null : Number(column),
    severity: kind === "warning" ? "warning" : "error",
    message: message ?? "",
  }));
}

/** Everything in a verdict that has a line. */
export function marksOf(ending: Ending): Mark[] {
  if (!isFailure(ending)) {
    return "warnings" in ending ? found(ending.warnings ?? []) : [];
  }
  if (ending.status === "COMPILE_ERROR") return complaints(ending.message);
  const marks = found(ending.details.findings ?? []);
  const { fault } = ending.details;
  if (marks.length > 0 || fault?.line === undefined || fault.line === null) return marks;
  return [{ line: fault.line, column: null, severity: "error", message: ending.message }];
}

function found(findings: readonly Finding[]): Mark[] {
  return findings.flatMap(({ line, severity, message, hint }) =>
    line === null ? [] : [{ line, column: null, severity, message: `${message} ${hint}` }],
  );
}
