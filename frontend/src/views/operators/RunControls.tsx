/** The running and queued submissions of everyone, which an operator can cancel. */
import { useState } from "react";
import { Link } from "wouter";
import { DataTable } from "../../components/DataTable";
import { plural, span } from "../../lib/format";
import type { OperationsResponse } from "../../lib/generated";
import { CancelDialog } from "./CancelDialog";
import { unfinishedRuns, type UnfinishedRun } from "./unfinishedRuns";

export function RunControls({ data, now, onChange }: { data: OperationsResponse; now: number; onChange: () => void }): React.JSX.Element {
  const [chosen, setChosen] = useState<UnfinishedRun | null>(null);
  const runs = unfinishedRuns(data);
  const others = data.queue.length - data.queue.items.length;
  return (
    <section className="card stack" aria-labelledby="run-controls-title">
      <h2 id="run-controls-title">Submissions</h2>
      {runs.length === 0 ? (
        <p className="dim">No submission is running or queued.</p>
      ) : (
        <DataTable
          label="Unfinished submissions and their actions"
          columns={[
            {
              name: "Submission",
              cell: (run) => (
                <Link href={`/submissions/${run.id}`}>
                  {run.problem}, {run.endpoint}
                </Link>
              ),
            },
            { name: "User", cell: (run) => run.user },
            { name: "State", cell: (run) => <span className="badge">{run.state}</span> },
            { name: "For", number: true, cell: (run) => span((now - Date.parse(run.since)) / 1000) },
            {
              name: "Actions",
              actions: true,
              cell: (run) => (
                <button className="button small" onClick={() => setChosen(run)} aria-label={`Cancel ${run.problem} of ${run.user}`}>
                  Cancel…
                </button>
              ),
            },
          ]}
          rows={runs}
          rowKey={(run) => run.id}
          testId="run-row"
        />
      )}
      {others > 0 && <p className="dim small">and {plural(others, "more", "more")} in the queue</p>}
      {chosen !== null && <CancelDialog id={chosen.id} owner={chosen.user} onDone={onChange} onClose={() => setChosen(null)} />}
    </section>
  );
}
