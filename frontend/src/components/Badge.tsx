/** Colored labels: a verdict, a state or a difficulty has the same color in every view. */
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
  CANCELLED: "",
};

const DIFFICULTIES: Record<string, string> = { easy: "good", medium: "warn", hard: "bad" };

export function Badge({ status }: { status: string }): React.JSX.Element {
  return <span className={`badge ${TONES[status] ?? ""}`}>{statusText(status)}</span>;
}

export function DifficultyBadge({ difficulty }: { difficulty: string }): React.JSX.Element {
  return <span className={`badge ${DIFFICULTIES[difficulty] ?? ""}`}>{statusText(difficulty)}</span>;
}
