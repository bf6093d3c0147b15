/** The alert rules and active alerts, with a button that sends a test message. */
import { useState } from "react";
import { DataTable, type Column } from "../../components/DataTable";
import { ErrorMessage } from "../../components/MessagePage";
import { errorText } from "../../components/ConfirmDialog";
import { dateTime } from "../../lib/format";
import type { AlertRuleResponse } from "../../lib/generated";
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
      <div role="status" className={results.length === 0 ? "hidden" : undefined}>
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
        <DataTable label="Alert rules" columns={RULES} rows={data.rules} rowKey={({ rule }) => rule} />
      )}
    </section>
  );
}

const RULES: Column<AlertRuleResponse>[] = [
  {
    name: "Rule",
    unlabeled: true,
    cell: (rule) => (
      <>
        {rule.meaning}
        <div className="small dim operators-setting">
          <code>{rule.variable}</code>
        </div>
      </>
    ),
  },
  { name: "Threshold", number: true, cell: ({ threshold }) => (threshold === "none" ? "off" : threshold) },
];
