/** The X-ray of a source, as a tab of a problem and of a submission. It is requested only when the user asks for it. */
import { useState } from "react";
import { ApiError } from "../../lib/api";
import { span } from "../../lib/format";
import type { Dtype } from "../../lib/generated";
import { requestXray, type XrayReportData } from "./report";
import { XrayReport } from "./XrayReport";
import "../../components/charts/charts.css";
import "./xray.css";

interface Props {
  source: string;
  problem: string;
  dtype: Dtype;
  /** Show a line of the source. */
  onLine?: (line: number) => void;
  /** `onLine` leaves this view, so it is not called if the assembly can show the line. */
  onLineLeaves?: boolean;
  /** The X-ray of the submission, which has no assembly. */
  stored?: XrayReportData | null;
}

interface Result {
  report: XrayReportData;
  source: string;
}

export default function Xray({
  source,
  problem,
  dtype,
  onLine,
  onLineLeaves = false,
  stored = null,
}: Props): React.JSX.Element {
  const [result, setResult] = useState<Result | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      setResult({ report: await requestXray(source, problem, dtype), source });
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
    setBusy(false);
  };
  const shown = result ?? (stored === null ? null : { report: stored, source });
  const isOutdated = result !== null && result.source !== source;
  const label = result === null ? (stored === null ? "X-ray this code" : "Show assembly") : "X-ray again";
  return (
    <div className="stack xray" aria-busy={busy}>
      <div className="row">
        <button className="button" disabled={busy || source.trim() === ""} onClick={() => void run()}>
          {busy ? "Compiling…" : label}
        </button>
        <span className="dim small grow" role="status">
          {statusLine(shown, isOutdated)}
        </span>
      </div>
      {error !== null && (
        <div className="note bad" role="alert">
          <p>{error.message}</p>
          <p>{error instanceof ApiError ? error.body.hint : "Try again in a moment."}</p>
        </div>
      )}
      {shown !== null && (
        <XrayReport report={shown.report} source={shown.source} onLine={onLine} onLineLeaves={onLineLeaves} />
      )}
    </div>
  );
}

function statusLine(shown: Result | null, isOutdated: boolean): string {
  if (shown === null) {
    return "Compiles the code for the GPU and shows registers, occupancy and assembly. Nothing is executed, and it is free.";
  }
  if (isOutdated) return "The code has changed since this X-ray.";
  const { arch, compiler, seconds } = shown.report;
  return [arch, compiler, seconds > 0 ? span(seconds) : ""].filter((part) => part !== "").join(" · ");
}
