/** The X-ray of a source: the tab beside the editor, and part of a submission's page. Made on request alone. */
import { useState } from "react";
import { span } from "../../lib/format";
import { Refused } from "../../lib/api";
import { examine, type Report } from "./report";
import { XrayReport } from "./XrayReport";
import "../../parts/figures/figures.css";
import "./xray.css";

interface Props {
  source: string;
  problem: string;
  dtype: string;
  /** Shows a line of the source in the editor. */
  onLine?: (line: number) => void;
  /** Going to a line leaves this view, so it is not done where the assembly shows the line. */
  leaves?: boolean;
  /** What is known already, without the assembly. */
  known?: Report | null;
}

interface Made {
  report: Report;
  source: string;
}

export default function Xray({
  source,
  problem,
  dtype,
  onLine,
  leaves = false,
  known = null,
}: Props): React.JSX.Element {
  const [made, setMade] = useState<Made | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const look = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      setMade({ report: await examine(source, problem, dtype), source });
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
    setBusy(false);
  };
  const shown = made ?? (known === null ? null : { report: known, source });
  const isOld = made !== null && made.source !== source;
  const name = made === null ? (known === null ? "X-ray this code" : "Show the assembly") : "X-ray again";
  return (
    <div className="stack xray" aria-busy={busy}>
      <div className="row">
        <button className="button" disabled={busy || source.trim() === ""} onClick={() => void look()}>
          {busy ? "Looking…" : name}
        </button>
        <span className="dim small grow" role="status">
          {status(shown, isOld)}
        </span>
      </div>
      {error !== null && (
        <div className="note bad" role="alert">
          <p>{error.message}</p>
          <p>{error instanceof Refused ? error.refusal.hint : "Try again in a moment."}</p>
        </div>
      )}
      {shown !== null && (
        <XrayReport report={shown.report} source={shown.source} onLine={onLine} leaves={leaves} />
      )}
    </div>
  );
}

function status(shown: Made | null, isOld: boolean): string {
  if (shown === null) {
    return "Compiles for the real GPU and shows registers, occupancy and assembly. Nothing is run; it is free.";
  }
  if (isOld) return "The code has changed since.";
  const { arch, compiler, seconds } = shown.report;
  return [arch, compiler, seconds > 0 ? span(seconds) : ""].filter((each) => each !== "").join(" · ");
}
