/** Latency and cost of cold starts and warm reuses. */
import { count, dollars, span } from "../../lib/format";
import type { OperationsResponse } from "../../lib/generated";

const kinds = ["warm", "cold", "all"] as const;

export function Latency({ data }: { data: OperationsResponse }): React.JSX.Element {
  const { cold_starts: cold, warm_reuses: warm } = data.tasks;
  return (
    <section className="card stack" aria-labelledby="latency-title">
      <h2 id="latency-title">Cold starts and warm reuses</h2>
      {cold + warm === 0 ? <p className="dim no-gap">No submission has run yet.</p> : <Statistics data={data} />}
    </section>
  );
}

function Statistics({ data }: { data: OperationsResponse }): React.JSX.Element {
  const { tasks, latencies_s: latencies } = data;
  return (
    <>
      <WarmShare cold={tasks.cold_starts} warm={tasks.warm_reuses} />
      <table>
        <thead>
          <tr>
            <th>Time to verdict</th>
            <th className="number">Warm</th>
            <th className="number">Cold</th>
            <th className="number">All</th>
          </tr>
        </thead>
        <tbody>
          <Row name="Submissions" cells={kinds.map((kind) => count(latencies[kind].count))} />
          <Row name="p50" cells={kinds.map((kind) => span(latencies[kind].p50_s))} />
          <Row name="p90" cells={kinds.map((kind) => span(latencies[kind].p90_s))} />
          <Row name="p99" cells={kinds.map((kind) => span(latencies[kind].p99_s))} />
          <Row name="Mean cost" cells={[tasks.warm_cost_usd, tasks.cold_cost_usd, tasks.cost_usd].map(dollars)} />
        </tbody>
      </table>
      <p className="dim small no-gap">
        Completed submissions: those that a VM has judged, at most the last 1,000. The mean cost of “All” is the total spent, including idle time, divided by all of them.
      </p>
    </>
  );
}

function Row({ name, cells }: { name: string; cells: string[] }): React.JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      {cells.map((cell, index) => (
        <td key={index} className="number">
          {cell}
        </td>
      ))}
    </tr>
  );
}

function WarmShare({ cold, warm }: { cold: number; warm: number }): React.JSX.Element {
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
