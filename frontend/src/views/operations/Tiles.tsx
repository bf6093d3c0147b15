/** The headline metrics. */
import type { ReactNode } from "react";
import { count, dollars, plural, significant } from "../../lib/format";
import type { OperationsResponse } from "../../lib/generated";
import { warmShare } from "./calculations";

export function Tiles({ data, now }: { data: OperationsResponse; now: number }): React.JSX.Element {
  const { money, tasks, vms } = data;
  const hoursSince = Math.max(0, now - Date.parse(data.now)) / 3_600_000;
  const remaining = Math.max(0, money.remaining_usd - hoursSince * money.burn_usd_per_h);
  const warm = warmShare(tasks.cold_starts, tasks.warm_reuses);
  return (
    <dl className="tiles">
      <Tile name="Credits remaining" value={dollars(remaining)}>
        of {dollars(money.credits_usd)}
      </Tile>
      <Tile name="Burn rate" value={`${dollars(money.burn_usd_per_h)}/h`}>
        {vms.length === 0 ? "no VMs running" : `${plural(vms.length, "VM")} running`}
      </Tile>
      <Tile name="Reserved" value={dollars(money.reserved_usd)}>
        maximum further cost of current VMs
      </Tile>
      <Tile name="Completed" value={count(tasks.completed)}>
        {data.queue.length === 0 ? "queue is empty" : `${count(data.queue.length)} queued`}
      </Tile>
      <Tile name="Cost per submission" value={dollars(tasks.cost_usd)}>
        total spent / completed
      </Tile>
      <Tile name="Warm starts" value={warm === null ? "–" : `${significant(warm, warm === 100 ? 3 : 2)}%`}>
        {count(tasks.warm_reuses)} warm, {count(tasks.cold_starts)} cold
      </Tile>
    </dl>
  );
}

function Tile({ name, value, children }: { name: string; value: string; children: ReactNode }): React.JSX.Element {
  return (
    <div className="card tile">
      <dt className="small dim">{name}</dt>
      <dd className="tile-value">{value}</dd>
      <dd className="small dim">{children}</dd>
    </div>
  );
}
