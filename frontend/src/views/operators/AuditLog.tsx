/** The audit log, newest first, with a check of its hash chain. */
import { useState } from "react";
import { ErrorMessage } from "../../components/MessagePage";
import { errorText } from "../../components/ConfirmDialog";
import { dateTime, plural } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { AuditCheckResponse, AuditEntryResponse } from "../../lib/generated";
import { changeText } from "./auditText";
import { audit, checkAudit } from "./requests";

const ACTIONS = [
  ...["vm.drain", "vm.release", "vm.pin", "vm.unpin", "intake.pause", "intake.resume", "limits.change"],
  ...["submission.cancel", "provisioning.reset", "key.create", "key.revoke", "alert.test"],
];

export function AuditLog({ round }: { round: number }): React.JSX.Element {
  const [action, setAction] = useState("");
  const [before, setBefore] = useState<number | null>(null);
  const { data, error, refetch } = useQuery(`audit ${round} ${action} ${before ?? ""}`, () => audit(before, action));
  if (error !== null) return <ErrorMessage error={error} onRetry={refetch} />;
  return (
    <section className="card stack" aria-labelledby="audit-title">
      <div className="row">
        <h2 id="audit-title" className="grow">
          Audit log
        </h2>
        <select
          aria-label="Action"
          value={action}
          onChange={(event) => {
            setAction(event.target.value);
            setBefore(null);
          }}
        >
          <option value="">All actions</option>
          {ACTIONS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {data === null ? <p className="dim">Loading…</p> : data.items.length === 0 ? <p className="dim">No entries.</p> : <Entries items={data.items} />}
      <div className="row">
        <button className="button" disabled={before === null} onClick={() => setBefore(null)}>
          Newest
        </button>
        <button className="button" disabled={data?.next_before === null || data === null} onClick={() => setBefore(data?.next_before ?? null)}>
          Older
        </button>
        <ChainCheck />
      </div>
    </section>
  );
}

function Entries({ items }: { items: AuditEntryResponse[] }): React.JSX.Element {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Entries of the audit log">
      <table>
        <thead>
          <tr>
            <th className="number">No.</th>
            <th>Time</th>
            <th>Who</th>
            <th>Action</th>
            <th>Subject</th>
            <th>Change</th>
            <th>Outcome</th>
          </tr>
        </thead>
        <tbody>
          {items.map((entry) => (
            <tr key={entry.seq} data-testid="audit-entry">
              <td className="number" title={entry.sha256}>
                {entry.seq}
              </td>
              <td className="operators-time">{dateTime(entry.time)}</td>
              <td title={`via ${entry.via}`}>{entry.actor}</td>
              <td>
                <code>{entry.action}</code>
              </td>
              <td>
                <code>{entry.subject}</code>
              </td>
              <td>{changeText(entry)}</td>
              <td>
                <span className={`badge ${entry.outcome === "DONE" ? "good" : "bad"}`}>{entry.outcome === "DONE" ? "Done" : "Refused"}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ChainCheck(): React.JSX.Element {
  const [result, setResult] = useState<AuditCheckResponse | string | null>(null);
  const check = async (): Promise<void> => {
    try {
      setResult(await checkAudit());
    } catch (error) {
      setResult(errorText(error));
    }
  };
  return (
    <>
      <button className="button" onClick={check}>
        Check the chain
      </button>
      <span role="status" className="small">
        {typeof result === "string" && result}
        {result !== null && typeof result !== "string" && (
          <>
            {result.intact ? `${plural(result.entries, "entry", "entries")}, chain intact.` : `Tampered with: ${result.problem}.`}{" "}
            {result.intact && result.entries > 0 && <code title={result.head_sha256}>{`${result.entries}:${result.head_sha256.slice(0, 12)}…`}</code>}
          </>
        )}
      </span>
    </>
  );
}
