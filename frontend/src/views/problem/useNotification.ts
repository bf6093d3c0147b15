/** Show a system notification for a verdict, if allowed and the tab is in the background. */
import { useEffect, useRef } from "react";
import { currentConnection } from "../../lib/api";
import type { VerdictEvent } from "../../lib/submissionProgress";
import { verdictText } from "./runText";

/** An older verdict was restored by a reload and is not announced. */
const MAX_AGE_MS = 15_000;

export function useNotification(problem: string, verdict: VerdictEvent | null): void {
  const announced = useRef<VerdictEvent | null>(null);
  useEffect(() => {
    if (verdict === null || announced.current === verdict) return;
    announced.current = verdict;
    const ageMs = Date.now() - currentConnection().skewMs - Date.parse(verdict.time);
    if (ageMs > MAX_AGE_MS) return;
    if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    new Notification(verdictText(verdict), { body: problem, tag: "warmfront" });
  }, [problem, verdict]);
}
