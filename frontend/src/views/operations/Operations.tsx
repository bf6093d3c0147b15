/** The operations view: VMs, queue, VM history, costs and latency. Updates live. */
import { useState } from "react";
import { Link } from "wouter";
import { ErrorMessage } from "../../components/MessagePage";
import { dollars } from "../../lib/format";
import { useTitle } from "../../lib/hooks";
import type { OperationsResponse } from "../../lib/generated";
import { VmHistory } from "./VmHistory";
import { Budget, CostByUser } from "./Budget";
import { ProvisioningProblems } from "./ProvisioningProblems";
import { Queue } from "./Queue";
import { Latency } from "./Latency";
import { Tiles } from "./Tiles";
import { useOperations } from "./useOperations";
import { Vms } from "./Vms";
import { WhatIf } from "./WhatIf";
import { useServerNow } from "./useServerNow";
import "./operations.css";

export default function Operations(): React.JSX.Element {
  const [hours, setHours] = useState(24);
  const { data, error, live, offsetMs, refetch } = useOperations(hours);
  useTitle(data === null ? "Operations" : tabTitle(data));
  if (data === null && error !== null) return <ErrorMessage error={error} onRetry={refetch} />;
  return (
    <div className="stack operations">
      <div className="row">
        <h1 className="grow">Operations</h1>
        {data?.everyone === true && <Link href="/operators">Control VMs, the intake and limits</Link>}
        <Live live={live} />
      </div>
      {data === null ? <Placeholder /> : <Loaded data={data} offsetMs={offsetMs} hours={hours} setHours={setHours} />}
    </div>
  );
}

interface LoadedProps {
  data: OperationsResponse;
  offsetMs: number;
  hours: number;
  setHours: (hours: number) => void;
}

function Loaded({ data, offsetMs, hours, setHours }: LoadedProps): React.JSX.Element {
  const now = useServerNow(offsetMs, data.vms.length + data.queue.length > 0 ? 1000 : 20_000);
  return (
    <>
      <Notes data={data} />
      <ProvisioningProblems data={data} now={now} />
      <Tiles data={data} now={now} />
      <div className="operations-now">
        <Vms data={data} now={now} />
        <Queue data={data} now={now} />
      </div>
      <VmHistory data={data} now={now} hours={hours} setHours={setHours} />
      <div className="operations-past">
        <Budget data={data} />
        {data.everyone && <WhatIf completed={data.tasks.completed} />}
        <CostByUser data={data} />
        <Latency data={data} />
      </div>
    </>
  );
}

function tabTitle({ vms, queue }: OperationsResponse): string {
  const waiting = queue.length > 0 ? `, ${queue.length} queued` : "";
  return `${vms.length === 1 ? "1 VM" : `${vms.length} VMs`}${waiting} · Operations`;
}

function Live({ live }: { live: boolean }): React.JSX.Element {
  return (
    <span className={`small live ${live ? "on" : ""}`} role="status">
      <i aria-hidden="true" /> {live ? "Live" : "Connecting…"}
    </span>
  );
}

function Notes({ data }: { data: OperationsResponse }): React.JSX.Element {
  const { money, simulated } = data;
  return (
    <>
      {money.alerted && (
        <div className="note warn">
          Budget alert: {dollars(money.spent_usd)} of {dollars(money.credits_usd)} spent. Submissions are rejected when the remaining credits do not cover a VM. Raise{" "}
          <code>AMD_GRANT_CREDITS_TOTAL</code>, or lower <code>AMD_VM_IDLE_TIMEOUT</code> to spend less.
        </div>
      )}
      {data.intake.mode !== "open" && (
        <div className="note warn">
          {data.intake.mode === "queue" ? "The queue is paused; submissions wait" : "The intake is paused; new submissions are refused"}: {data.intake.reason}
        </div>
      )}
      {simulated && (
        <p className="dim small no-gap">
          VMs are simulated on this machine’s CPU. Costs are simulated; no money is spent.
        </p>
      )}
    </>
  );
}

/** Reserves the space, so that the layout does not shift when the data is loaded. */
function Placeholder(): React.JSX.Element {
  return (
    <>
      <div className="tiles" aria-hidden="true">
        {["a", "b", "c", "d", "e", "f"].map((key) => (
          <div key={key} className="card tile skeleton">
            .
          </div>
        ))}
      </div>
      <p className="dim">Loading…</p>
    </>
  );
}
