/** The current run of a problem: submit it, follow it, cancel it, and restore it after a reload. */
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, cancel, currentConnection, ServiceUnreachable, submit, type NewSubmission } from "../../lib/api";
import type { SubmissionProgress } from "../../lib/submissionProgress";
import { ofUser } from "../../lib/pageUser";
import { read, write } from "../../lib/storage";
import { pause } from "../../lib/eventStream";
import type { Endpoint } from "../../lib/generated";
import { useSubmissionProgress } from "../../lib/useSubmissionProgress";

/** A run as stored in the browser. Without an id it has not been accepted yet; retries use the same idempotency key. */
export interface Run {
  id: string | null;
  key: string;
  request: NewSubmission;
  /** The author cancelled it. The request is retried until the service has received it. */
  cancelRequested?: boolean;
}

export interface RunState {
  run: Run | null;
  progress: SubmissionProgress | null;
  /** A run is in progress; no other can be started. */
  busy: boolean;
  /** Failed connections to the event stream in a row. */
  failures: number;
  cancelling: boolean;
  /** The service rejected the request. */
  error: ApiError | null;
  /** It was started on this page, not restored by a reload. */
  live: boolean;
  start: (request: NewSubmission) => void;
  requestCancel: () => void;
}

const RETRY_MS = 2000;

export function useRun(slug: string): RunState {
  const [name] = useState(() => ofUser(`warmfront.run.${slug}`));
  const [run, setRun] = useState<Run | null>(() => parseRun(read(name)));
  const [error, setError] = useState<ApiError | null>(null);
  const [live, setLive] = useState(false);
  const current = useRef<string | null>(null);
  const endpoint: Endpoint = run?.request.endpoint ?? "checker";
  const followed = useSubmissionProgress(run?.id ?? null, endpoint);
  const store = useCallback(
    (next: Run | null) => {
      current.current = next?.key ?? null;
      write(name, next === null ? null : JSON.stringify(next));
      setRun(next);
    },
    [name],
  );

  useEffect(() => {
    if (run?.id !== null) return undefined; // no run, or already accepted
    const { key, request } = run;
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = async (): Promise<void> => {
      try {
        const { id } = await submit(request, key);
        if (!stopped) store({ id, key, request });
      } catch (error) {
        if (stopped) return;
        if (error instanceof ServiceUnreachable) {
          timer = setTimeout(() => void send(), RETRY_MS);
          return;
        }
        store(null);
        if (error instanceof ApiError && !isShownAsDialog(error)) setError(error);
      }
    };
    void send();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [run, store]);

  const start = useCallback(
    (request: NewSubmission) => {
      setError(null);
      setLive(true);
      store({ id: null, key: newKey(), request });
    },
    [store],
  );

  const requestCancel = useCallback(() => {
    if (run !== null) store(run.id === null ? null : { ...run, cancelRequested: true });
  }, [run, store]);

  const ended = followed.progress.verdict !== null;
  useEffect(() => {
    if (run?.cancelRequested !== true || run.id === null || ended) return undefined;
    const { id } = run;
    const controller = new AbortController();
    void sendCancel(id, controller.signal).then((accepted) => {
      if (!accepted && !controller.signal.aborted) store({ ...run, cancelRequested: false });
    });
    return () => controller.abort();
  }, [run, ended, store]);

  // The service may not have a stored run, for example after a change of its database. Drop the run without an error.
  const known = followed.error === null ? run : null;
  const busy = known !== null && followed.progress.verdict === null;
  return {
    run: known,
    progress: known === null ? null : followed.progress,
    busy,
    failures: followed.failures,
    cancelling: busy && run?.cancelRequested === true,
    error,
    live,
    start,
    requestCancel,
  };
}

/** Send the cancel request, retrying while the service is unreachable. Return false if it is rejected. */
async function sendCancel(id: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await cancel(id);
      return true;
    } catch (error) {
      // 409: the submission has already ended, and the stream has its verdict.
      if (error instanceof ApiError) return error.body.status === 409;
      if (!(error instanceof ServiceUnreachable)) return false;
    }
    await pause(RETRY_MS, signal);
  }
  return false;
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The shell asks for a key if it is missing or invalid. */
function isShownAsDialog(error: ApiError): boolean {
  return error.body.status === 401 && currentConnection().keyPrompt !== null;
}

function parseRun(text: string | null): Run | null {
  try {
    const run = JSON.parse(text ?? "null") as Run | null;
    return typeof run?.key === "string" && typeof run.request.endpoint === "string" ? run : null;
  } catch {
    return null;
  }
}
