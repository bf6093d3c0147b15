/** The service at a glance: VMs and queue now, the last day, and where the money goes. It updates itself. */
import { useState } from "react";
import { Failure } from "../../parts/Helping";
import { dollars } from "../../lib/format";
import { useTitle } from "../../lib/hooks";
import type { Operations as Figures } from "../../lib/types";
import { LastHours } from "./LastHours";
import { Money, Spenders } from "./Money";
import { Queue } from "./Queue";
import { Speed } from "./Speed";
import { Tiles } from "./Tiles";
import { useOperations } from "./useOperations";
import { Vms } from "./Vms";
import { WhatIf } from "./WhatIf";
import { useServerNow } from "./useServerNow";
import "./operations.css";

export default function Operations(): React.JSX.Element {
  const [hours, setHours] = useState(24);
  const { data, error, live, offsetMs, again } = useOperations(hours);
  useTitle(data === null ? "Operations" : titleOf(data));
  if (data === null && error !== null) return <Failure error={error} onRetry={again} />;
  return (
    <div className="stack operations">
      <div className="row">
        <h1 className="grow">Operations</h1>
        <Live live={live} />
      </div>
      {data === null ? <Placeholder /> : <Loaded data={data} offsetMs={offsetMs} hours={hours} setHours={setHours} />}
    </div>
  );
}

interface LoadedProps {
  data: Figures;
  offsetMs: number;
  hours: number;
  setHours: (hours: number) => void;
}

function Loaded({ data, offsetMs, hours, setHours }: LoadedProps): React.JSX.Element {
  const now = useServerNow(offsetMs, data.vms.length + data.queue.length > 0 ? 1000 : 20_000);
  return (
    <>
      <Notes data={data} />
      <Tiles data={data} now={now} />
      <div className="operations-now">
        <Vms data={data} now={now} />
        <Queue data={data} now={now} />
      </div>
      <LastHours data={data} now={now} hours={hours} setHours={setHours} />
      <div className="operations-past">
        <Money data={data} />
        {data.everyone && <WhatIf />}
        <Spenders data={data} />
        <Speed data={data} />
      </div>
    </>
  );
}

function titleOf({ vms, queue }: Figures): string {
  const waiting = queue.length > 0 ? `, ${queue.length} waiting` : "";
  return `${vms.length === 1 ? "1 VM" : `${vms.length} VMs`}${waiting} · Operations`;
}

function Live({ live }: { live: boolean }): React.JSX.Element {
  return (
    <span className={`small live ${live ? "on" : ""}`} role="status">
      <i aria-hidden="true" /> {live ? "Live" : "Connecting…"}
    </span>
  );
}

function Notes({ data }: { data: Figures }): React.JSX.Element {
  const { money, simulated } = data;
  return (
    <>
      {money.alerted && (
        <div className="note warn">
          Budget alert: {dollars(money.spent_usd)} of {dollars(money.credits_usd)} are spent. Submissions are refused when they no longer cover a VM; raise{" "}
          <code>AMD_GRANT_CREDITS_TOTAL</code>, or lower <code>AMD_VM_IDLE_TIMEOUT</code> to make them last.
        </div>
      )}
      {simulated && (
        <p className="dim small no-gap">
          VMs are simulated on this machine’s CPU: times are real, dollars are not.
        </p>
      )}
    </>
  );
}

/** As high as what is to come, so that nothing jumps. */
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
