/** The alert rules and active alerts, with a button that sends a test message. */
import { useState } from "react";
import { ErrorMessage } from "../../components/MessagePage";
import { errorText } from "../../components/ConfirmDialog";
import { dateTime } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import { alerts, testAlerts } from "./requests";

const REFRESH_MS = 10_000;

export function Alerts({ onTest }: { onTest: () => void }): React.JSX.Element {
  const { data, error, refetch } = useQuery("alerts", alerts, REFRESH_MS);
  const [results, setResults] = useState<string[]>([]);
  const test = async (): Promise<void> => {
    try {
      const { items } = await testAlerts();
      setResults(items.map(({ channel, ok, detail }) => `${channel}: ${ok ? "delivered" : detail}`));
      onTest();
    } catch (failure) {
      setResults([errorText(failure)]);
    }
  };
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  return (
    <section className="card stack" aria-labelledby="alerts-title">
      <div className="row">
        <h2 id="alerts-title" className="grow">
          Alerts
        </h2>
        <span className="small dim">{data === null ? "" : data.channels.length === 0 ? "no channel is configured" : `sent by ${data.channels.join(", ")}`}</span>
        <button className="button" onClick={test}>
          Send a test message
        </button>
      </div>
      <div role="status">
        {results.map((line) => (
          <p key={line} className="operators-line">
            {line}
          </p>
        ))}
      </div>
      {data?.active.map((alert) => (
        <div key={`${alert.rule} ${alert.subject}`} className="note warn">
          {alert.text} <span className="small dim">Since {dateTime(alert.since)}.</span>
        </div>
      ))}
      {data !== null && (
        <div className="scroll" tabIndex={0} role="region" aria-label="Alert rules">
          <table>
            <thead>
              <tr>
                <th>Rule</th>
                <th className="number">Threshold</th>
                <th className="wide-only">Setting</th>
              </tr>
            </thead>
            <tbody>
              {data.rules.map((rule) => (
                <tr key={rule.rule}>
                  <td>{rule.meaning}</td>
                  <td className="number">{rule.threshold === "none" ? "off" : rule.threshold}</td>
                  <td className="small dim wide-only">
                    <code>{rule.variable}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
