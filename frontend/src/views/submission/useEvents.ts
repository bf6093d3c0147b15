/** A submission's events: the stored ones at once, and the live ones as they come. */
import { useEffect, useMemo, useState } from "react";
import { begin, isLast, tell, type Story } from "../../lib/story";
import { follow } from "../../lib/stream";
import type { Endpoint, StreamEvent } from "../../lib/types";

export function useEvents(
  id: string,
  endpoint: Endpoint | null,
): { events: StreamEvent[]; story: Story; cuts: number } {
  const [events, setEvents] = useState<StreamEvent[]>([]);
  const [cuts, setCuts] = useState(0);
  useEffect(() => {
    if (endpoint === null) return undefined;
    const stop = follow(id, 0, (event) => isLast(endpoint, event), {
      onEvents: (more) => setEvents((before) => [...before, ...more]),
      onCut: setCuts,
    });
    return () => {
      stop();
      setEvents([]);
    };
  }, [id, endpoint]);
  const story = useMemo(() => tell(begin(endpoint ?? "submit"), events), [endpoint, events]);
  return { events, story, cuts };
}
