/** What the program printed, by case. */
import { isFailure, type VerdictEvent } from "../../lib/submissionProgress";

export interface CaseOutput {
  /** The name of the case; empty if the output is not known by case. */
  name: string;
  text: string;
  /** The case that failed. */
  failed: boolean;
}

export function outputsByCase(verdict: VerdictEvent): CaseOutput[] {
  const byCase = isFailure(verdict)
    ? Object.entries(verdict.details.output_by_case ?? {}).map(([name, text]) => ({ name, text, failed: name === verdict.case }))
    : verdict.status === "CHECKED" || verdict.status === "ACCEPTED"
      ? verdict.test_results.map(({ name, output = "" }) => ({ name, text: output, failed: false }))
      : [];
  const whole = ("output" in verdict ? verdict.output : null) ?? "";
  const printed = byCase.map(({ text }) => text).join("");
  // What was printed before the first case, or everything if it is not known by case.
  const before = whole.endsWith(printed) ? whole.slice(0, whole.length - printed.length) : "";
  return [{ name: "", text: before, failed: false }, ...byCase].filter(({ text }) => text.trim() !== "");
}
