/** The audit log, newest first, with a check of its hash chain. */
import { useState } from "react";
import { DataTable, type Column } from "../../components/DataTable";
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
  ...["user.change", "invitation.create", "invitation.revoke", "team.budget"],
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
      {data === null ? <p className="dim">Loading…</p> : data.items.length === 0 ? <p className="dim">No entries.</p> : <DataTable label="Entries of the audit log" columns={COLUMNS} rows={data.items} rowKey={({ seq }) => seq} testId="audit-entry" />}
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

const COLUMNS: Column<AuditEntryResponse>[] = [
  { name: "No.", number: true, cell: ({ seq, sha256 }) => <span title={sha256}>{seq}</span> },
  { name: "Time", nowrap: true, cell: ({ time }) => dateTime(time) },
  { name: "Who", cell: ({ actor, via }) => <span title={`via ${via}`}>{actor}</span> },
  { name: "Action", nowrap: true, cell: ({ action }) => <code>{action}</code> },
  { name: "Subject", cell: ({ subject }) => <code>{subject}</code> },
  { name: "Change", cell: changeText },
  {
    name: "Outcome",
    cell: ({ outcome }) => <span className={`badge ${outcome === "DONE" ? "good" : "bad"}`}>{outcome === "DONE" ? "Done" : "Refused"}</span>,
  },
];

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
