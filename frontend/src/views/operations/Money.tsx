/** Where the credits go: what is left, what each day and each user came to. */
import { BurnDown } from "../../parts/figures/BurnDown";
import { DayBars } from "../../parts/figures/DayBars";
import { costs } from "../../lib/api";
import { dollars, plural } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { Meter, Operations } from "../../lib/types";
import { ForecastWords, OtherPaces } from "./Forecast";
import { Legend } from "./Legend";
import { aheadOf, everyDay, lasting, METER_NAMES, pace, type Pace } from "./sums";

/** Work at the bottom of each bar, where days are compared best. */
const STACK: readonly Meter[] = ["WORK", "PROVISIONING", "IDLE"];
const DAY_MS = 86_400_000;
/** A forecast goes by full days: it changes slowly. */
const FORECAST_MS = 15 * 60_000;

export function Money({ data }: { data: Operations }): React.JSX.Element {
  const { money, costs_by_day: days } = data;
  const now = Date.parse(data.now);
  const told = useQuery("forecast", costs, FORECAST_MS).data?.forecast ?? null;
  const going = pace(days, money.remaining_usd, now);
  const points = money.burn_down.map(({ time, remaining_usd }) => ({ at: Date.parse(time), usd: remaining_usd }));
  // Where nothing was ever spent there is one point: the line comes from where it would have begun.
  if (points.length === 1) points.unshift({ at: now - DAY_MS, usd: money.remaining_usd });
  return (
    <>
      <section className="card stack" aria-labelledby="credits-title">
        <h2 id="credits-title">Credits</h2>
        <BurnDown points={points} credits={money.credits_usd} alertAt={money.alert_at_usd} ahead={aheadOf(told, going, now)} />
        {told === null ? <p className="no-gap">{paceWords(going, now)}</p> : <ForecastWords told={told} />}
        {data.everyone && <OtherPaces />}
      </section>
      <section className="card stack" aria-labelledby="days-title">
        <div className="row">
          <h2 id="days-title" className="grow">
            Cost by day <span className="dim small">UTC</span>
          </h2>
          <Legend />
        </div>
        {days.length === 0 ? (
          <p className="dim no-gap">Nothing was spent yet. From the first VM on, each day has a bar here.</p>
        ) : (
          <DayBars bars={everyDay(days, now)} meters={STACK} names={METER_NAMES} />
        )}
      </section>
    </>
  );
}

export function Spenders({ data }: { data: Operations }): React.JSX.Element {
  return (
    <section className="card stack" aria-labelledby="users-title">
      <h2 id="users-title">
        Cost by user <span className="dim small">last 31 days</span>
      </h2>
      <Users data={data} />
    </section>
  );
}

function paceWords(going: Pace | null, now: number): string {
  if (going === null) return "Nothing was spent of late, so there is no pace to go by.";
  const rate = `${dollars(going.usdPerDay)} a day over the last ${plural(going.days, "day")}`;
  return `At ${rate} the credits last ${lasting((going.emptyAt - now) / DAY_MS)}.`;
}

function Users({ data }: { data: Operations }): React.JSX.Element {
  const { costs_by_user: users, everyone } = data;
  const most = Math.max(...users.map((each) => each.cost_usd), 0);
  if (users.length === 0) return <p className="dim no-gap">{everyone ? "Nothing was spent" : "You spent nothing"} in this time.</p>;
  return (
    <>
      <table className="users">
        <tbody>
          {users.map(({ user, cost_usd }) => (
            <tr key={user ?? ""}>
              <th scope="row">{user ?? <span className="dim">nobody: idle until the end</span>}</th>
              <td>
                <div className="user-bar" aria-hidden="true">
                  <div style={{ width: `${most > 0 ? (100 * cost_usd) / most : 0}%` }} />
                </div>
              </td>
              <td className="number">{dollars(cost_usd)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!everyone && <p className="dim small no-gap">Operators see everyone’s.</p>}
    </>
  );
}
