/** Read server-sent events with fetch, and reconnect with Last-Event-ID when the connection is lost or stalls. */
import { ApiError, request, ServiceUnreachable } from "./api";
import type { SubmissionEvent } from "./generated";

/** The service sends at least a comment every 15 s; after three of those intervals the connection is dead. */
const STALL_TIMEOUT_MS = 45_000;
const INITIAL_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 8_000;

export interface EventHandlers {
  onEvents: (events: SubmissionEvent[]) => void;
  /** The connection was lost (with the number of failures in a row) or restored (0). */
  onDisconnect?: (failures: number) => void;
  /** The submission does not exist or belongs to someone else; the stream ends. */
  onError?: (error: ApiError) => void;
}

/** Subscribe to a submission's events after `lastId`, until its verdict. Return a function that unsubscribes. */
export function subscribe(
  id: string,
  lastId: number,
  isVerdict: (event: SubmissionEvent) => boolean,
  handlers: EventHandlers,
): () => void {
  const controller = new AbortController();
  void run(id, lastId, isVerdict, handlers, controller.signal);
  return () => controller.abort();
}

async function run(
  id: string,
  lastId: number,
  isVerdict: (event: SubmissionEvent) => boolean,
  handlers: EventHandlers,
  signal: AbortSignal,
): Promise<void> {
  const stopped = (): boolean => signal.aborted;
  let receivedId = lastId;
  let failures = 0;
  while (!stopped()) {
    try {
      for await (const events of eventBatches(eventsPath(id), receivedId, signal)) {
        if (stopped()) return;
        if (failures > 0) handlers.onDisconnect?.((failures = 0));
        const fresh = events.filter((event) => event.id > receivedId);
        const last = fresh.at(-1);
        if (last === undefined) continue;
        receivedId = last.id;
        handlers.onEvents(fresh);
        if (fresh.some(isVerdict)) return;
      }
    } catch (error) {
      if (stopped()) return;
      if (error instanceof StreamFinished) return;
      if (error instanceof ApiError && error.body.status >= 400 && error.body.status < 500) {
        if (error.body.status !== 401 && error.body.status !== 429) {
          handlers.onError?.(error);
          return;
        }
      }
    }
    handlers.onDisconnect?.(++failures);
    await pause(backoffMs(failures), signal);
  }
}

/** Exponential backoff with jitter of ±25%, so that not all pages reconnect at once. */
export function backoffMs(failures: number, random = Math.random()): number {
  return Math.min(MAX_BACKOFF_MS, INITIAL_BACKOFF_MS * 2 ** (failures - 1)) * (0.75 + random / 2);
}

/** Wait. The wait ends early when the signal aborts or the browser is online again, as after a laptop wakes up. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const listeners = new AbortController();
    const end = (): void => {
      clearTimeout(timer);
      listeners.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { signal: listeners.signal });
    window.addEventListener("online", end, { signal: listeners.signal });
  });
}

/** Status 204: the verdict has already been received. */
class StreamFinished extends Error {}

function eventsPath(id: string): string {
  return `/submissions/${encodeURIComponent(id)}/events`;
}

/** Yield the events of one connection. Throws if the connection is lost or silent for too long. */
export async function* eventBatches(path: string, after: number, outer: AbortSignal): AsyncGenerator<SubmissionEvent[]> {
  const stall = new AbortController();
  const signal = AbortSignal.any([outer, stall.signal]);
  let timer = setTimeout(() => stall.abort(), STALL_TIMEOUT_MS);
  try {
    const response = await request(path, {
      signal,
      headers: { Accept: "text/event-stream", ...(after > 0 ? { "Last-Event-ID": String(after) } : {}) },
    });
    if (response.status === 204) throw new StreamFinished();
    if (response.body === null) throw new ServiceUnreachable();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), STALL_TIMEOUT_MS);
      const events = parser.feed(value);
      yield events; // empty after a comment, which shows that the connection is alive
    }
  } finally {
    clearTimeout(timer);
  }
}

/** An incremental parser of server-sent events; the text may be split anywhere. */
export class EventParser {
  private rest = "";

  feed(text: string): SubmissionEvent[] {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart());
      return data.length === 0 ? [] : [JSON.parse(data.join("\n")) as SubmissionEvent];
    });
  }
}
