/** A coloured label for a verdict or a state. */
import { statusText } from "../lib/format";

const TONES: Record<string, string> = {
  ACCEPTED: "good",
  CHECKED: "good",
  BENCHMARKED: "good",
  XRAY: "good",
  PASSED: "good",
  WARM: "good",
  FAILED: "bad",
  COMPILE_ERROR: "bad",
  WRONG_ANSWER: "bad",
  RUNTIME_ERROR: "bad",
  TIME_LIMIT_EXCEEDED: "bad",
  MEMORY_LIMIT_EXCEEDED: "bad",
  ERROR: "bad",
  BUDGET_EXCEEDED: "warn",
  RATE_LIMIT_EXCEEDED: "warn",
  PROVISIONING: "warn",
  RUNNING: "info",
  BUSY: "info",
  IN_QUEUE: "info",
  QUEUED: "info",
  ASSIGNED: "info",
};

export function Badge({ status }: { status: string }): React.JSX.Element {
  return <span className={`badge ${TONES[status] ?? ""}`}>{statusText(status)}</span>;
}
