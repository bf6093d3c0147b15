/** The status line below the editor: registers, occupancy and spills of the code, as of the last X-ray. */
import { plural } from "../../lib/format";
import { statusText } from "./xrayStatus";
import type { LiveXray } from "./useLiveXray";

interface Props {
  live: LiveXray;
  code: string;
  cursor: number;
  onOpen: () => void;
}

export function StatusLine({ live, code, cursor, onOpen }: Props): React.JSX.Element {
  const { result, busy, error } = live;
  const isCurrent = result?.source === code;
  const findings = result?.report.findings.length ?? 0;
  return (
    <span className="status-line" role="status" data-testid="status-line" data-state={busy ? "busy" : isCurrent ? "current" : "none"}>
      {error !== null && !isCurrent && <span className="status-error">{error}</span>}
      {result !== null && (error === null || isCurrent) && (
        <button type="button" className={`status-figures ${isCurrent ? "" : "outdated"}`} onClick={onOpen} title="Show the X-ray">
          {statusText(result.report, cursor)}
          {findings > 0 && ` · ${plural(findings, "finding")}`}
        </button>
      )}
      {busy && <span>Compiling…</span>}
    </span>
  );
}
