/** What a cold start costs against a warm reuse, in dollars and in seconds. */
import { count, dollars, span } from "../../lib/format";
import type { Operations } from "../../lib/types";

const kinds = ["warm", "cold", "all"] as const;

export function Speed({ data }: { data: Operations }): React.JSX.Element {
  const { cold_starts: cold, warm_reuses: warm } = data.tasks;
  return (
    <section className="card stack" aria-labelledby="speed-title">
      <h2 id="speed-title">Cold starts and warm reuses</h2>
      {cold + warm === 0 ? <p className="dim no-gap">No task has run yet.</p> : <Figures data={data} />}
    </section>
  );
}

function Figures({ data }: { data: Operations }): React.JSX.Element {
  const { tasks, latencies_s: of } = data;
  return (
    <>
      <Share cold={tasks.cold_starts} warm={tasks.warm_reuses} />
      <table>
        <thead>
          <tr>
            <th>Submit to verdict</th>
            <th className="number">Warm</th>
            <th className="number">Cold</th>
            <th className="number">All</th>
          </tr>
        </thead>
        <tbody>
          <Line name="Tasks" cells={kinds.map((kind) => count(of[kind].count))} />
          <Line name="Half within" cells={kinds.map((kind) => span(of[kind].p50_s))} />
          <Line name="90% within" cells={kinds.map((kind) => span(of[kind].p90_s))} />
          <Line name="99% within" cells={kinds.map((kind) => span(of[kind].p99_s))} />
          <Line name="Cost each" cells={[tasks.warm_cost_usd, tasks.cold_cost_usd, tasks.cost_usd].map(dollars)} />
        </tbody>
      </table>
      <p className="dim small no-gap">
        Times and costs are of the last 1,000 tasks; “All” costs is everything that was spent, idle time too, over all tasks.
      </p>
    </>
  );
}

function Line({ name, cells }: { name: string; cells: string[] }): React.JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      {cells.map((cell, at) => (
        <td key={at} className="number">
          {cell}
        </td>
      ))}
    </tr>
  );
}

function Share({ cold, warm }: { cold: number; warm: number }): React.JSX.Element {
  const percent = (100 * warm) / (cold + warm);
  return (
    <div className="share">
      <div className="share-bar" aria-hidden="true">
        <div className="share-warm" style={{ width: `${percent}%` }} />
      </div>
      <p className="small no-gap">
        <strong>{count(warm)}</strong> warm, <strong>{count(cold)}</strong> cold
      </p>
    </div>
  );
}
