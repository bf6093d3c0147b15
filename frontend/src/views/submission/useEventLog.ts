/** The event log of a submission: the stored events, then live ones. */
import { useEffect, useMemo, useState } from "react";
import { applyEvents, initialProgress, isVerdict, type SubmissionProgress } from "../../lib/submissionProgress";
import { subscribe } from "../../lib/eventStream";
import type { Endpoint, SubmissionEvent } from "../../lib/generated";

export function useEventLog(
  id: string,
  endpoint: Endpoint | null,
): { events: SubmissionEvent[]; progress: SubmissionProgress; failures: number } {
  const [events, setEvents] = useState<SubmissionEvent[]>([]);
  const [failures, setFailures] = useState(0);
  useEffect(() => {
    if (endpoint === null) return undefined;
    const unsubscribe = subscribe(id, 0, (event) => isVerdict(endpoint, event), {
      onEvents: (received) => setEvents((previous) => [...previous, ...received]),
      onDisconnect: setFailures,
    });
    return () => {
      unsubscribe();
      setEvents([]);
    };
  }, [id, endpoint]);
  const progress = useMemo(() => applyEvents(initialProgress(endpoint ?? "submit"), events), [endpoint, events]);
  return { events, progress, failures };
}
