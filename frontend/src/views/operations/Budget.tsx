/** Credits: what remains, and the costs by day and by user. */
import { useMemo } from "react";
import { BurnDown, type Point, type RunOut } from "../../components/charts/BurnDown";
import { DayBars } from "../../components/charts/DayBars";
import { costs } from "../../lib/api";
import { dollars, plural } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { ForecastResponse, Meter, OperationsResponse } from "../../lib/generated";
import { ForecastText, RateForecasts } from "./Forecast";
import { burnRate, cpuNodesText, dailyCosts, daysText, METER_NAMES, runOutOf, type BurnRate } from "./calculations";

/** Work is at the bottom of the bars, where days are easiest to compare. */
const STACK: readonly Meter[] = ["WORK", "PROVISIONING", "IDLE"];
const DAY_MS = 86_400_000;
/** A forecast uses full days, so it changes slowly. */
const FORECAST_REFRESH_MS = 15 * 60_000;

export function Budget({ data }: { data: OperationsResponse }): React.JSX.Element {
  const { money, costs_by_day: days } = data;
  const now = Date.parse(data.now);
  const report = useQuery("forecast", costs, FORECAST_REFRESH_MS).data;
  const forecast = report?.forecast ?? null;
  const rate = burnRate(days, money.remaining_usd, now);
  const points = useMemo(() => burnDownPoints(data), [data]);
  const runOut = useMemo(() => dataRunOut(data, forecast), [data, forecast]);
  const bars = useMemo(() => dailyCosts(data.costs_by_day, Date.parse(data.now)), [data]);
  return (
    <>
      <section className="card stack" aria-labelledby="credits-title">
        <h2 id="credits-title">Credits</h2>
        <BurnDown points={points} credits={money.credits_usd} alertAt={money.alert_at_usd} runOut={runOut} />
        {forecast === null ? <p className="no-gap">{burnRateText(rate, now)}</p> : <ForecastText forecast={forecast} />}
        {data.everyone && <RateForecasts />}
      </section>
      <section className="card stack" aria-labelledby="days-title">
        <h2 id="days-title">
          Cost by day <span className="dim small">UTC</span>
        </h2>
        {days.length === 0 ? (
          <p className="dim no-gap">No costs yet.</p>
        ) : (
          <DayBars bars={bars} meters={STACK} names={METER_NAMES} />
        )}
        {report?.cpu_nodes && <p className="no-gap">{cpuNodesText(report.cpu_nodes)}</p>}
      </section>
    </>
  );
}

function burnDownPoints({ money, now }: OperationsResponse): Point[] {
  const points = money.burn_down.map(({ time, remaining_usd }) => ({ at: Date.parse(time), usd: remaining_usd }));
  // If nothing has been spent there is only one point; add a second, from the day before, to draw a line.
  if (points.length === 1) points.unshift({ at: Date.parse(now) - DAY_MS, usd: money.remaining_usd });
  return points;
}

function dataRunOut(data: OperationsResponse, forecast: ForecastResponse | null): RunOut | null {
  const now = Date.parse(data.now);
  return runOutOf(forecast, burnRate(data.costs_by_day, data.money.remaining_usd, now), now);
}

export function CostByUser({ data }: { data: OperationsResponse }): React.JSX.Element {
  return (
    <section className="card stack" aria-labelledby="users-title">
      <h2 id="users-title">
        Cost by user <span className="dim small">last 31 days</span>
      </h2>
      <Users data={data} />
    </section>
  );
}

function burnRateText(rate: BurnRate | null, now: number): string {
  if (rate === null) return "No recent costs, so there is no forecast.";
  const average = `${dollars(rate.usdPerDay)} per day, the average of the last ${plural(rate.days, "day")},`;
  return `At ${average} the credits last ${daysText((rate.emptyAt - now) / DAY_MS)}.`;
}

function Users({ data }: { data: OperationsResponse }): React.JSX.Element {
  const { costs_by_user: users, everyone } = data;
  const max = Math.max(...users.map((user) => user.cost_usd), 0);
  if (users.length === 0) return <p className="dim no-gap">No costs in this period.</p>;
  return (
    <>
      <table className="users">
        <tbody>
          {users.map(({ user, cost_usd }) => (
            <tr key={user ?? ""}>
              <th scope="row">{user ?? <span className="dim">VM pool: idle time, prewarming</span>}</th>
              <td>
                <div className="user-bar" aria-hidden="true">
                  <div style={{ width: `${max > 0 ? (100 * cost_usd) / max : 0}%` }} />
                </div>
              </td>
              <td className="number">{dollars(cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!everyone && <p className="dim small no-gap">Only operators see the costs of all users.</p>}
    </>
  );
}
