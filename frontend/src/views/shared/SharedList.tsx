/** Results that their owners have made public, newest first. Open to everyone. */
import { Link } from "wouter";
import { DataTable, type Column } from "../../components/DataTable";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { publicShares } from "../../lib/api";
import { dateTime } from "../../lib/format";
import type { PublicShare } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";

const COLUMNS: Column<PublicShare>[] = [
  { name: "Result", cell: ({ id, kind, problem }) => <Link href={`/s/${id}`}>{problem ?? (kind === "xray" ? "X-ray" : "Submission")}</Link> },
  { name: "Kind", cell: ({ kind }) => (kind === "xray" ? "X-ray" : "submission") },
  { name: "User", cell: ({ user }) => user },
  { name: "Shared", nowrap: true, cell: ({ created_at: created }) => dateTime(created) },
];

export default function SharedList(): React.JSX.Element {
  useTitle("Shared results");
  const shares = useQuery("public shares", publicShares);
  if (shares.error !== null) return <ErrorMessage error={shares.error} onRetry={shares.refetch} />;
  return (
    <div className="stack">
      <h1>Shared results</h1>
      <p className="dim">Submissions and X-rays that their owners have shared with everyone.</p>
      {shares.data === null ? (
        <p className="dim">Loading…</p>
      ) : shares.data.items.length === 0 ? (
        <EmptyState>
          <p>Nothing is shared with everyone yet. To share a submission, open it and press Share.</p>
        </EmptyState>
      ) : (
        <section className="card">
          <DataTable label="Shared results" columns={COLUMNS} rows={shares.data.items} rowKey={({ id }) => id} />
        </section>
      )}
    </div>
  );
}
