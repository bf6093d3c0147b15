/** What this month would have cost with other keep-warm policies. It is simulated, so it loads after the rest. */
import { useEffect, useState } from "react";
import { whatIf } from "../../lib/api";
import { count, dollars, plural, span } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { WhatIfResponse } from "../../lib/generated";
import { Progress } from "../../components/Progress";
import { isFree, policyRows, replayText, whatIfText, type PolicyRow } from "./whatIfSummary";

/** The service simulates again only if arrivals or limits have changed. */
const REFRESH_MS = 30_000;

/** A new value of `completed`, the number of completed submissions, fetches the result again; the old one stays until then. */
export function WhatIf({ completed }: { completed: number }): React.JSX.Element {
  const [attempt, setAttempt] = useState(1);
  const { data, error, loading, refetch } = useQuery(`what-if ${attempt}`, whatIf, REFRESH_MS);
  useEffect(() => {
    refetch();
  }, [completed, refetch]);
  return (
    <section className="card stack what-if" aria-labelledby="what-if-title">
      <h2 id="what-if-title">
        What if <span className="dim small">this month, UTC</span>
      </h2>
      {data !== null && <Results data={data} />}
      {loading && <Placeholder />}
      {data === null && error !== null && (
        <div className="row">
          <span>{error.message}</span>
          <button className="button small" onClick={() => setAttempt(attempt + 1)}>
            Try again
          </button>
        </div>
      )}
    </section>
  );
}

/** Reserves about the space of the result. */
function Placeholder(): React.JSX.Element {
  return (
    <div className="stack what-if-placeholder">
      <p className="dim">Replaying this month’s submissions with other policies. This takes a few seconds.</p>
      <Progress share={null} label="Replaying this month" />
    </div>
  );
}

function Results({ data }: { data: WhatIfResponse }): React.JSX.Element {
  if (data.items.length === 0) {
    return (
      <p className="dim">
        No submission needed a VM this month, so there is nothing to replay.
      </p>
    );
  }
  return (
    <>
      <p>{whatIfText(data)}</p>
      {data.adaptive !== "" && <p data-testid="adaptive">{data.adaptive}</p>}
      <table className="users">
        <thead>
          <tr>
            <th>Keep-warm policy</th>
            <th>
              <span className="hidden">Cost (bar)</span>
            </th>
            <th className="number">Cost</th>
            <th className="number wide-only">Cold starts</th>
            <th className="number wide-only">Mean wait</th>
            <th className="number wide-only">Cost incl. waiting</th>
          </tr>
        </thead>
        <tbody>
          {policyRows(data).map((row) => (
            <Row key={row.name} row={row} />
          ))}
        </tbody>
      </table>
      <p className="dim small">
        {replayText(data)}{isFree(data) ? " with a cloud’s provisioning times and prices" : ""}. The best possible policy knows all arrivals in advance; it and the adaptive policy weigh cost against the value of waiting time (
        <code>WARMFRONT_WAIT_VALUE_USD_PER_HOUR</code>).
      </p>
    </>
  );
}

function Row({ row }: { row: PolicyRow }): React.JSX.Element {
  const { name, kind, usd, share, coldStarts, waitMeanS, withWaitingUsd } = row;
  return (
    <tr>
      <th scope="row">
        {name}
        {coldStarts !== null && (
          <div className="small dim phone-only">
            {plural(coldStarts, "cold start")}, mean wait {span(waitMeanS)}, {dollars(withWaitingUsd)} including waiting
          </div>
        )}
      </th>
      <td>
        <div className={`user-bar ${kind}`} aria-hidden="true">
          <div style={{ width: `${100 * share}%` }} />
        </div>
      </td>
      <td className="number">{dollars(usd)}</td>
      <td className="number wide-only">{coldStarts === null ? "–" : count(coldStarts)}</td>
      <td className="number wide-only">{span(waitMeanS)}</td>
      <td className="number wide-only">{dollars(withWaitingUsd)}</td>
    </tr>
  );
}
