/** When the credits run out: from the ledger, and simulated for other submission rates on request. */
import { useState } from "react";
import { paceForecasts } from "../../lib/api";
import { count, dollars, plural } from "../../lib/format";
import { Progress } from "../../components/Progress";
import type { Estimate, ForecastResponse, PaceForecast } from "../../lib/generated";
import { daysText } from "./calculations";

/** The `source` of the forecast that uses the service's own arrivals. */
const OWN_ARRIVALS = "its own arrivals";

/** The forecast from the costs of the past days. */
export function ForecastText({ forecast }: { forecast: ForecastResponse }): React.JSX.Element {
  const { days_seen, month_usd, lasts_days } = forecast;
  return (
    <p className="no-gap">
      Based on the last {plural(days_seen, "day")}, the credits last <strong>{daysText(lasts_days.mid)}</strong> (
      {daysText(lasts_days.low)} to {daysText(lasts_days.high)}), and the next 30 days cost{" "}
      <strong>{dollars(month_usd.mid)}</strong> ({rangeText(month_usd)}). Ranges are 90% intervals.
    </p>
  );
}

/** Forecasts for other submission rates. They are simulated, which keeps a core busy, so this happens only on request. */
export function RateForecasts(): React.JSX.Element {
  const [result, setResult] = useState<"none" | "loading" | PaceForecast[] | Error>("none");
  const load = async (): Promise<void> => {
    setResult("loading");
    try {
      setResult((await paceForecasts()).items);
    } catch (error) {
      setResult(error instanceof Error ? error : new Error(String(error)));
    }
  };
  if (Array.isArray(result)) return <RateTable items={result} />;
  return (
    <div className="stack">
      <div className="row">
        <button className="button small" disabled={result === "loading"} onClick={() => void load()}>
          Simulate other submission rates
        </button>
        {result === "loading" && <span className="dim small">Simulating. This can take a few minutes.</span>}
        {result instanceof Error && <span className="small">{result.message} Try again in a moment.</span>}
      </div>
      {result === "loading" && <Progress share={null} label="Simulating" />}
    </div>
  );
}

function RateTable({ items }: { items: PaceForecast[] }): React.JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th className="number">Submissions per day</th>
          <th className="number">Next 30 days</th>
          <th className="number">Credits last</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={`${item.tasks_per_day} ${item.source}`} title={item.source}>
            <td className="number">
              {item.source === OWN_ARRIVALS && <span className="dim">current: </span>}
              {count(Math.round(item.tasks_per_day))}
            </td>
            <td className="number">{item.month_usd === null ? "–" : dollars(item.month_usd.mid)}</td>
            <td className="number">{item.lasts_days === null ? "–" : daysText(item.lasts_days.mid)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function rangeText({ low, high }: Estimate): string {
  return `${dollars(low)} to ${dollars(high)}`;
}
