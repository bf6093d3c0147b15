/** The operators' view: act on VMs and submissions, pause the intake, change limits, and read the audit log. */
import { useState } from "react";
import { Link } from "wouter";
import { ErrorMessage, MessagePage } from "../../components/MessagePage";
import { useTitle } from "../../lib/hooks";
import { useOperations } from "../operations/useOperations";
import { useServerNow } from "../operations/useServerNow";
import type { OperationsResponse } from "../../lib/generated";
import { Alerts } from "./Alerts";
import { AuditLog } from "./AuditLog";
import { Intake } from "./Intake";
import { Limits } from "./Limits";
import { RunControls } from "./RunControls";
import { VmControls } from "./VmControls";
import "../../components/account.css";
import "./operators.css";

export default function Operators(): React.JSX.Element {
  useTitle("Operators");
  const { data, error, offsetMs, refetch } = useOperations(1);
  if (data === null && error !== null) return <ErrorMessage error={error} onRetry={refetch} />;
  if (data === null) return <p className="dim">Loading…</p>;
  if (!data.everyone) {
    return (
      <MessagePage title="Operators only">
        <p>Only operators can control VMs, the intake and limits. Ask one of them, or enter an operator’s key in the settings.</p>
        <p>
          <Link href="/operations">Operations</Link> · <Link href="/settings">Settings</Link>
        </p>
      </MessagePage>
    );
  }
  return <Loaded data={data} offsetMs={offsetMs} refetch={refetch} />;
}

function Loaded({ data, offsetMs, refetch }: { data: OperationsResponse; offsetMs: number; refetch: () => void }): React.JSX.Element {
  const now = useServerNow(offsetMs, 1000);
  // Every action changes the audit log, so it loads again.
  const [round, setRound] = useState(0);
  const changed = (): void => {
    refetch();
    setRound((n) => n + 1);
  };
  return (
    <div className="stack operators">
      <div className="row">
        <h1 className="grow">Operators</h1>
        <span className="row">
          <Link href="/operations">Operations</Link>
          <Link href="/people">People, keys and teams</Link>
        </span>
      </div>
      <VmControls vms={data.vms} now={now} onChange={changed} />
      <RunControls data={data} now={now} onChange={changed} />
      <div className="people-grid">
        <Limits round={round} onChange={changed} />
        <div className="stack">
          <Intake intake={data.intake} onChange={changed} />
          <Alerts onTest={changed} />
        </div>
      </div>
      <AuditLog round={round} />
    </div>
  );
}
