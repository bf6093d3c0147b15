/** The service's figures, asked for again whenever it says that something changed. */
import { useEffect, useState } from "react";
import { operations, Refused } from "../../lib/api";
import { batches, pause, waitMs } from "../../lib/stream";
import type { Operations } from "../../lib/types";

/** Lanes move on and days end though nothing changes. */
const ANYWAY_MS = 60_000;
/** A burst of changes is looked at once. */
const CALM_MS = 700;

export interface Seen {
  data: Operations | null;
  error: Error | null;
  /** Whether changes are heard of as they come. */
  live: boolean;
  /** The service's clock minus ours, in ms. */
  offsetMs: number;
  again: () => void;
}

export function useOperations(hours: number): Seen {
  const [seen, setSeen] = useState<Omit<Seen, "again" | "live">>({ data: null, error: null, offsetMs: 0 });
  const [live, setLive] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const load = async (): Promise<void> => {
      try {
        const data = await operations(hours);
        if (!stop.signal.aborted) setSeen({ data, error: null, offsetMs: Date.parse(data.now) - Date.now() });
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!stop.signal.aborted) setSeen((was) => ({ ...was, error: failure }));
      }
    };
    const look = coalesced(load, stop.signal);
    void listen(look, setLive, stop.signal);
    look();
    const timer = setInterval(look, ANYWAY_MS);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [hours, round]);
  return { ...seen, live, again: () => setRound((n) => n + 1) };
}

/** Calls that come while one is under way, or just after, become one more. */
function coalesced(work: () => Promise<void>, stop: AbortSignal): () => void {
  const state = { busy: false, wanted: false };
  const run = async (): Promise<void> => {
    state.busy = true;
    while (state.wanted && !stop.aborted) {
      state.wanted = false;
      await work();
      await pause(CALM_MS, stop);
    }
    state.busy = false;
  };
  return () => {
    state.wanted = true;
    if (!state.busy) void run();
  };
}

/** Follow the stream of changes for as long as the view is there. */
async function listen(changed: () => void, setLive: (live: boolean) => void, stop: AbortSignal): Promise<void> {
  const stopped = (): boolean => stop.aborted;
  let cuts = 0;
  while (!stopped()) {
    try {
      for await (const events of batches("/operations/stream", 0, stop)) {
        if (stopped()) return;
        if (cuts > 0 || events.length > 0) changed();
        cuts = 0;
        setLive(true);
      }
    } catch (error) {
      if (stopped()) return;
      if (error instanceof Refused && error.refusal.status === 403) return;
    }
    setLive(false);
    await pause(waitMs(++cuts), stop);
  }
}
