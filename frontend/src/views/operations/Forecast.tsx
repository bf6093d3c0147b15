/** How long the credits last: as days went so far, and at other paces where an operator asks. */
import { useState } from "react";
import { paces } from "../../lib/api";
import { count, dollars } from "../../lib/format";
import { Progress } from "../../parts/Progress";
import type { Forecast as Told, PaceForecast, Range } from "../../lib/types";
import { lasting } from "./sums";

/** What the service calls the account's own days. */
const OWN = "its own arrivals";

/** In words, from the ledger's own days. */
export function ForecastWords({ told }: { told: Told }): React.JSX.Element {
  const { days_seen, month_usd, lasts_days } = told;
  return (
    <p className="no-gap">
      If days to come are like the last {count(days_seen)}, the credits last <strong>{lasting(lasts_days.mid)}</strong> (
      {lasting(lasts_days.low)} to {lasting(lasts_days.high)}), and the next 30 days cost{" "}
      <strong>{dollars(month_usd.mid)}</strong> ({between(month_usd)}), nine times of ten.
    </p>
  );
}

/** A simulation takes a core for a while, so it is run when it is asked for. */
export function OtherPaces(): React.JSX.Element {
  const [asked, setAsked] = useState<"no" | "waiting" | PaceForecast[] | Error>("no");
  const ask = async (): Promise<void> => {
    setAsked("waiting");
    try {
      setAsked((await paces()).items);
    } catch (error) {
      setAsked(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (Array.isArray(asked)) return <PaceTable items={asked} />;
  return (
    <div className="stack">
      <div className="row">
        <button className="button small" disabled={asked === "waiting"} onClick={() => void ask()}>
          Simulate other paces
        </button>
        {asked === "waiting" && <span className="dim small">Replaying days of work; this takes a while.</span>}
        {asked instanceof Error && <span className="small">{asked.message} Try again in a moment.</span>}
      </div>
      {asked === "waiting" && <Progress share={null} label="Simulating" />}
    </div>
  );
}

function PaceTable({ items }: { items: PaceForecast[] }): React.JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th className="number">Tasks a day</th>
          <th className="number">Next 30 days</th>
          <th className="number">Credits last</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={`${item.tasks_per_day} ${item.source}`} title={item.source}>
            <td className="number">
              {item.source === OWN && <span className="dim">as now: </span>}
              {count(Math.round(item.tasks_per_day))}
            </td>
            <td className="number">{item.month_usd === null ? "–" : dollars(item.month_usd.mid)}</td>
            <td className="number">{item.lasts_days === null ? "–" : lasting(item.lasts_days.mid)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function between({ low, high }: Range): string {
  return `${dollars(low)} to ${dollars(high)}`;
}
