/** What this month would have cost with other policies, and at best. It is simulated, so it comes after the rest. */
import { useState } from "react";
import { whatIf } from "../../lib/api";
import { count, dollars, plural, span } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { WhatIf as Told } from "../../lib/types";
import { Progress } from "../../parts/Progress";
import { isFree, waysOf, whatIfText, type Way } from "./whatIf";

/** The service keeps an answer for ten minutes. */
const EVERY_MS = 15 * 60_000;

export function WhatIf(): React.JSX.Element {
  const [tries, setTries] = useState(1);
  const { data, error, loading } = useQuery(`what-if ${tries}`, whatIf, EVERY_MS);
  return (
    <section className="card stack what-if" aria-labelledby="what-if-title">
      <h2 id="what-if-title">
        What if <span className="dim small">this month, UTC</span>
      </h2>
      {data !== null && <Answer told={data} />}
      {loading && <Waiting />}
      {data === null && error !== null && (
        <div className="row">
          <span>{error.message}</span>
          <button className="button small" onClick={() => setTries(tries + 1)}>
            Try again
          </button>
        </div>
      )}
    </section>
  );
}

/** As high as a usual answer, so that nothing jumps. */
function Waiting(): React.JSX.Element {
  return (
    <div className="stack what-if-waiting">
      <p className="dim">Replaying this month’s tasks with other policies; this takes a few seconds.</p>
      <Progress share={null} label="Replaying this month" />
    </div>
  );
}

function Answer({ told }: { told: Told }): React.JSX.Element {
  if (told.items.length === 0) {
    return (
      <p className="dim">
        No task needed a VM this month. After the first, this is where you see what it would have cost with other policies, and at best.
      </p>
    );
  }
  return (
    <>
      <p>{whatIfText(told)}</p>
      <table className="users">
        <thead>
          <tr>
            <th>Keep-warm</th>
            <th>
              <span className="hidden">Cost as a bar</span>
            </th>
            <th className="number">Cost</th>
            <th className="number wide-only">Cold starts</th>
            <th className="number wide-only">Waiting a task</th>
            <th className="number wide-only">Cost with waiting</th>
          </tr>
        </thead>
        <tbody>
          {waysOf(told).map((way) => (
            <OneWay key={way.name} way={way} />
          ))}
        </tbody>
      </table>
      <p className="dim small">
        {plural(told.tasks, "task")} of this month, each replayed as it came
        {isFree(told) ? ", with a cloud’s boots and prices" : ""}. The best possible knows every arrival beforehand; it and adaptive weigh what waiting is worth (
        <code>WARMFRONT_WAIT_VALUE_USD_PER_HOUR</code>) against dollars.
      </p>
    </>
  );
}

function OneWay({ way }: { way: Way }): React.JSX.Element {
  const { name, kind, usd, share, coldStarts, waitMeanS, withWaitingUsd } = way;
  return (
    <tr>
      <th scope="row">
        {name}
        {coldStarts !== null && (
          <div className="small dim phone-only">
            {plural(coldStarts, "cold start")}, {span(waitMeanS)} of waiting a task, {dollars(withWaitingUsd)} with waiting
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
