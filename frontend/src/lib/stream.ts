/** Reads a submission's events by fetch, and comes back with Last-Event-ID whenever the line is cut or stalls. */
import { ask, Away, Refused } from "./api";
import type { StreamEvent } from "./types";

/** The service says something every 15 s: a line that is silent for three times that is dead. */
const STALLED_MS = 45_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;

export interface Listener {
  onEvents: (events: StreamEvent[]) => void;
  /** The line was cut (with how often in a row), or is back (0). */
  onCut?: (times: number) => void;
  /** There is nothing to hear: it is unknown, or not ours. */
  onRefused?: (error: Refused) => void;
}

/** Follow a submission from after `lastId` until its verdict. Returns how to stop. */
export function follow(id: string, lastId: number, isLast: (event: StreamEvent) => boolean, to: Listener): () => void {
  const stop = new AbortController();
  void run(id, lastId, isLast, to, stop);
  return () => stop.abort();
}

async function run(
  id: string,
  lastId: number,
  isLast: (event: StreamEvent) => boolean,
  to: Listener,
  stop: AbortController,
): Promise<void> {
  const stopped = (): boolean => stop.signal.aborted;
  let seen = lastId;
  let cuts = 0;
  while (!stopped()) {
    try {
      for await (const events of batches(placeOf(id), seen, stop.signal)) {
        if (stopped()) return;
        if (cuts > 0) to.onCut?.((cuts = 0));
        const fresh = events.filter((event) => event.id > seen);
        const last = fresh.at(-1);
        if (last === undefined) continue;
        seen = last.id;
        to.onEvents(fresh);
        if (fresh.some(isLast)) return;
      }
    } catch (error) {
      if (stopped()) return;
      if (error instanceof Finished) return;
      if (error instanceof Refused && error.refusal.status >= 400 && error.refusal.status < 500) {
        if (error.refusal.status !== 401 && error.refusal.status !== 429) {
          to.onRefused?.(error);
          return;
        }
      }
    }
    to.onCut?.(++cuts);
    await pause(waitMs(cuts), stop.signal);
  }
}

/** Twice as long each time, with some chance in it, so that all pages do not come back at once. */
export function waitMs(cuts: number, chance = Math.random()): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (cuts - 1)) * (0.75 + chance / 2);
}

export /** A laptop that opens again need not wait, nor who stops listening. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = (): void => {
      clearTimeout(timer);
      over.abort();
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { signal: over.signal });
    window.addEventListener("online", end, { signal: over.signal });
  });
}

/** 204: the verdict is in, and was seen. */
class Finished extends Error {}

function placeOf(id: string): string {
  return `/submissions/${encodeURIComponent(id)}/events`;
}

/** What one connection to a stream brings; it throws where the line is cut or silent for too long. */
export async function* batches(path: string, after: number, outer: AbortSignal): AsyncGenerator<StreamEvent[]> {
  const stall = new AbortController();
  const signal = AbortSignal.any([outer, stall.signal]);
  let timer = setTimeout(() => stall.abort(), STALLED_MS);
  try {
    const answer = await ask(path, {
      signal,
      headers: { Accept: "text/event-stream", ...(after > 0 ? { "Last-Event-ID": String(after) } : {}) },
    });
    if (answer.status === 204) throw new Finished();
    if (answer.body === null) throw new Away();
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), STALLED_MS);
      const events = parser.feed(value);
      yield events; // an empty batch is a comment: the line is alive
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Server-Sent Events from pieces of text that end anywhere. */
export class Parser {
  private rest = "";

  feed(text: string): StreamEvent[] {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trimStart());
      return data.length === 0 ? [] : [JSON.parse(data.join("\n")) as StreamEvent];
    });
  }
}
