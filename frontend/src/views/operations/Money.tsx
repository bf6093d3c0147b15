/** Where the credits go: what is left, what each day and each user came to. */
import { BurnDown } from "../../parts/figures/BurnDown";
import { DayBars } from "../../parts/figures/DayBars";
import { day } from "../../parts/figures/times";
import { dollars, plural, span } from "../../lib/format";
import type { Meter, Operations } from "../../lib/types";
import { Forecast } from "./Forecast";
import { Legend } from "./Legend";
import { everyDay, METER_NAMES, pace, type Pace } from "./sums";

/** Work at the bottom of each bar, where days are compared best. */
const STACK: readonly Meter[] = ["WORK", "PROVISIONING", "IDLE"];
const YEAR_MS = 365 * 86_400_000;

export function Money({ data, now }: { data: Operations; now: number }): React.JSX.Element {
  const { money, costs_by_day: days } = data;
  const going = pace(days, money.remaining_usd, Date.parse(data.now));
  const points = money.burn_down.map(({ time, remaining_usd }) => ({ at: Date.parse(time), usd: remaining_usd }));
  return (
    <div className="operations-money">
      <section className="card stack" aria-labelledby="credits-title">
        <h2 id="credits-title">Credits</h2>
        <BurnDown points={points} credits={money.credits_usd} alertAt={money.alert_at_usd} emptyAt={soon(going, now)} />
        <p className="no-gap">{paceWords(going, now)}</p>
        <Forecast />
      </section>
      <section className="card stack" aria-labelledby="days-title">
        <div className="row">
          <h2 id="days-title" className="grow">
            Cost by day <span className="dim small">UTC</span>
          </h2>
          <Legend />
        </div>
        <DayBars bars={everyDay(days, Date.parse(data.now))} meters={STACK} names={METER_NAMES} />
      </section>
      <section className="card stack" aria-labelledby="users-title">
        <h2 id="users-title">
          Cost by user <span className="dim small">last 31 days</span>
        </h2>
        <Users data={data} />
      </section>
    </div>
  );
}

/** Decades ahead say nothing. */
function soon(going: Pace | null, now: number): number | null {
  return going !== null && going.emptyAt - now < 10 * YEAR_MS ? going.emptyAt : null;
}

function paceWords(going: Pace | null, now: number): string {
  if (going === null) return "Nothing was spent of late, so there is no pace to go by.";
  const rate = `${dollars(going.usdPerDay)} a day over the last ${plural(going.days, "day")}`;
  const end = soon(going, now);
  if (end === null) return `At ${rate} they last for more than ten years.`;
  const until = end - now < YEAR_MS ? `until ${day(end)}` : `for ${((end - now) / YEAR_MS).toFixed(1)} years`;
  return `At ${rate} they last ${until}${end - now < 2 * 86_400_000 ? `, ${span((end - now) / 1000)} from now` : ""}.`;
}

function Users({ data }: { data: Operations }): React.JSX.Element {
  const { costs_by_user: users, everyone } = data;
  const most = Math.max(...users.map((each) => each.cost_usd), 0);
  if (users.length === 0) return <p className="dim no-gap">{everyone ? "Nobody" : "You"} spent nothing in this time.</p>;
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
