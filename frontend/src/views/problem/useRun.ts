/** One run at a time: hand it in, follow it, cancel it, and find it again after a reload. */
import { useCallback, useEffect, useRef, useState } from "react";
import { Away, cancel, currentLink, Refused, submit, type NewSubmission } from "../../lib/api";
import type { Story } from "../../lib/story";
import { read, write } from "../../lib/storage";
import { pause } from "../../lib/stream";
import type { Endpoint } from "../../lib/types";
import { useStory } from "../../lib/useStory";

/** What is remembered of a run. Before the service has answered there is no id, and the same key asks again. */
export interface Run {
  id: string | null;
  key: string;
  request: NewSubmission;
  /** Its author wants it stopped. The service hears of that, however long it is away. */
  unwanted?: boolean;
}

export interface Running {
  run: Run | null;
  story: Story | null;
  /** Nothing new may be started. */
  busy: boolean;
  /** How often in a row the stream was cut. */
  cuts: number;
  cancelling: boolean;
  refused: Refused | null;
  /** It came to its end just now, not before a reload. */
  live: boolean;
  start: (request: NewSubmission) => void;
  stop: () => void;
}

const RETRY_MS = 2000;

export function useRun(slug: string): Running {
  const name = `warmfront.run.${slug}`;
  const [run, setRun] = useState<Run | null>(() => parseRun(read(name)));
  const [refused, setRefused] = useState<Refused | null>(null);
  const [live, setLive] = useState(false);
  const current = useRef<string | null>(null);
  const endpoint: Endpoint = run?.request.endpoint ?? "checker";
  const told = useStory(run?.id ?? null, endpoint);
  const keep = useCallback(
    (next: Run | null) => {
      current.current = next?.key ?? null;
      write(name, next === null ? null : JSON.stringify(next));
      setRun(next);
    },
    [name],
  );

  useEffect(() => {
    if (run?.id !== null) return undefined; // there is none, or the service has it
    const { key, request } = run;
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = async (): Promise<void> => {
      try {
        const { id } = await submit(request, key);
        if (!over) keep({ id, key, request });
      } catch (error) {
        if (over) return;
        if (error instanceof Away) {
          timer = setTimeout(() => void send(), RETRY_MS);
          return;
        }
        keep(null);
        // A wanted key is asked for by the shell.
        if (error instanceof Refused && currentLink().keyWanted === null) setRefused(error);
      }
    };
    void send();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [run, keep]);

  const start = useCallback(
    (request: NewSubmission) => {
      setRefused(null);
      setLive(true);
      keep({ id: null, key: newKey(), request });
    },
    [keep],
  );

  const stop = useCallback(() => {
    if (run !== null) keep(run.id === null ? null : { ...run, unwanted: true });
  }, [run, keep]);

  const over = told.story.ending !== null;
  useEffect(() => {
    if (run?.unwanted !== true || run.id === null || over) return undefined;
    const { id } = run;
    const left = new AbortController();
    void cancelled(id, left.signal).then((heard) => {
      if (!heard && !left.signal.aborted) keep({ ...run, unwanted: false });
    });
    return () => left.abort();
  }, [run, over, keep]);

  // A run of another day, or of another store, is nothing to be shown an error for.
  const known = told.refused === null ? run : null;
  const busy = known !== null && told.story.ending === null;
  return {
    run: known,
    story: known === null ? null : told.story,
    busy,
    cuts: told.cuts,
    cancelling: busy && run?.unwanted === true,
    refused,
    live,
    start,
    stop,
  };
}

/** Ask until the service has heard it, however long it is away. False where it refuses. */
async function cancelled(id: string, left: AbortSignal): Promise<boolean> {
  while (!left.aborted) {
    try {
      await cancel(id);
      return true;
    } catch (error) {
      // That it is over already is no failure; the stream tells how it ended.
      if (error instanceof Refused) return error.refusal.status === 409;
      if (!(error instanceof Away)) return false;
    }
    await pause(RETRY_MS, left);
  }
  return false;
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function parseRun(text: string | null): Run | null {
  try {
    const run = JSON.parse(text ?? "null") as Run | null;
    return typeof run?.key === "string" && typeof run.request.endpoint === "string" ? run : null;
  } catch {
    return null;
  }
}
