/** The operations data, fetched again whenever the service reports a change. */
import { useEffect, useState } from "react";
import { ApiError, operations } from "../../lib/api";
import { backoffMs, eventBatches, pause } from "../../lib/eventStream";
import type { OperationsResponse } from "../../lib/generated";

/** Charts advance and days end even without a change. */
const REFRESH_MS = 60_000;
/** A burst of changes causes one request. */
const COALESCE_MS = 700;

export interface OperationsState {
  data: OperationsResponse | null;
  error: Error | null;
  /** Whether the stream of changes is connected. */
  live: boolean;
  /** The service's clock minus the browser's, in ms. */
  offsetMs: number;
  refetch: () => void;
}

export function useOperations(hours: number): OperationsState {
  const [state, setState] = useState<Omit<OperationsState, "refetch" | "live">>({ data: null, error: null, offsetMs: 0 });
  const [live, setLive] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const load = async (): Promise<void> => {
      try {
        const data = await operations(hours);
        if (!controller.signal.aborted) setState({ data, error: null, offsetMs: Date.parse(data.now) - Date.now() });
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!controller.signal.aborted) setState((previous) => ({ ...previous, error: failure }));
      }
    };
    const refresh = coalesce(load, controller.signal);
    void listen(refresh, setLive, controller.signal);
    refresh();
    const timer = setInterval(refresh, REFRESH_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, [hours, round]);
  return { ...state, live, refetch: () => setRound((n) => n + 1) };
}

/** Combine all calls during and shortly after a run into one more run. */
function coalesce(work: () => Promise<void>, signal: AbortSignal): () => void {
  const queue = { running: false, requested: false };
  const run = async (): Promise<void> => {
    queue.running = true;
    while (queue.requested && !signal.aborted) {
      queue.requested = false;
      await work();
      await pause(COALESCE_MS, signal);
    }
    queue.running = false;
  };
  return () => {
    queue.requested = true;
    if (!queue.running) void run();
  };
}

/** Follow the stream of changes until the signal aborts. */
async function listen(changed: () => void, setLive: (live: boolean) => void, signal: AbortSignal): Promise<void> {
  const stopped = (): boolean => signal.aborted;
  let failures = 0;
  while (!stopped()) {
    try {
      for await (const events of eventBatches("/operations/stream", 0, signal)) {
        if (stopped()) return;
        if (failures > 0 || events.length > 0) changed();
        failures = 0;
        setLive(true);
      }
    } catch (error) {
      if (stopped()) return;
      if (error instanceof ApiError && error.body.status === 403) return;
    }
    setLive(false);
    await pause(backoffMs(++failures), signal);
  }
}
