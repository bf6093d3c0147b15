/** The X-ray of the code in the editor, requested when typing pauses. Requests for older text are cancelled. */
import { useEffect, useRef, useState } from "react";
import { ApiError, ServiceUnreachable } from "../../lib/api";
import type { Dtype } from "../../lib/generated";
import { requestXray, type XrayReportData } from "../xray/report";
import { RequestPacing } from "./requestPacing";

export interface XrayResult {
  report: XrayReportData;
  source: string;
  hasAssembly: boolean;
}

export interface LiveXray {
  /** The newest X-ray; its source can be older than the code. */
  result: XrayResult | null;
  busy: boolean;
  /** Why there is no X-ray of the current code. */
  error: string | null;
}

interface Options {
  code: string;
  /** Null for a kernel without a problem. */
  slug: string | null;
  dtype: Dtype | null;
  /** Whether the code is worth an X-ray: not empty, not too large, not the starter code. */
  wanted: boolean;
  /** Request the assembly as well. */
  assembly: boolean;
  /** Wait, because the X-ray of a run is due and the service runs one X-ray per user at a time. */
  paused: boolean;
}

const RETRY_MS = 5000;

export function useLiveXray({ code, slug, dtype, wanted, assembly, paused }: Options): LiveXray {
  const [result, setResult] = useState<XrayResult | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const [pacing] = useState(() => new RequestPacing());
  const known = useRef<XrayResult | null>(null);
  useEffect(() => {
    const isKnown = known.current?.source === code && (known.current.hasAssembly || !assembly);
    if (!wanted || paused || isKnown) return undefined;
    const controller = new AbortController();
    const retry = (): void => setAttempt((number) => number + 1);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const send = async (): Promise<void> => {
      setBusy(true);
      pacing.sent(Date.now());
      try {
        const report = await requestXray(code, slug, dtype, { assembly, signal: controller.signal });
        known.current = { report, source: code, hasAssembly: assembly };
        setResult(known.current);
        setError(null);
      } catch (failure) {
        if (controller.signal.aborted) return;
        const isRateLimit = failure instanceof ApiError && failure.body.status === 429;
        if (isRateLimit) pacing.rejected(Date.now());
        const isUnreachable = failure instanceof ServiceUnreachable; // the shell shows a banner
        setError(isUnreachable ? null : isRateLimit ? "Rate limit reached; diagnostics continue in a minute." : errorText(failure));
        // Other errors, such as an invalid key, would repeat until the code changes.
        if (isRateLimit || isUnreachable) timer = setTimeout(retry, RETRY_MS);
      }
      setBusy(false);
    };
    timer = setTimeout(() => void send(), pacing.delayMs(Date.now()));
    return () => {
      clearTimeout(timer);
      controller.abort();
      setBusy(false);
    };
  }, [code, slug, dtype, wanted, assembly, paused, attempt, pacing]);
  return { result, busy, error };
}

function errorText(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
