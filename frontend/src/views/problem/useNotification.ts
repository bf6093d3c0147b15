/** Show a system notification for a verdict, if allowed and the tab is in the background. */
import { useEffect, useRef } from "react";
import { currentConnection } from "../../lib/api";
import type { SubmissionProgress, VerdictEvent } from "../../lib/submissionProgress";
import { verdictText } from "./runText";

/** An older verdict was restored by a reload and is not announced. */
const MAX_AGE_MS = 15_000;

export function useNotification(problem: string, progress: SubmissionProgress | null): void {
  const verdict = progress?.verdict ?? null;
  const toolchain = progress?.toolchain ?? "";
  const announced = useRef<VerdictEvent | null>(null);
  useEffect(() => {
    if (verdict === null || announced.current === verdict) return;
    announced.current = verdict;
    const ageMs = Date.now() - currentConnection().skewMs - Date.parse(verdict.time);
    if (ageMs > MAX_AGE_MS) return;
    if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    new Notification(verdictText(verdict, toolchain), { body: problem, tag: "warmfront" });
  }, [problem, verdict, toolchain]);
}
