/** The figures that are looked at first. */
import type { ReactNode } from "react";
import { count, dollars, plural, significant } from "../../lib/format";
import type { Operations } from "../../lib/types";
import { warmShare } from "./sums";

export function Tiles({ data, now }: { data: Operations; now: number }): React.JSX.Element {
  const { money, tasks, vms } = data;
  const since = Math.max(0, now - Date.parse(data.now)) / 3_600_000;
  const left = Math.max(0, money.remaining_usd - since * money.burn_usd_per_h);
  const warm = warmShare(tasks.cold_starts, tasks.warm_reuses);
  return (
    <dl className="tiles">
      <Tile name="Credits left" value={dollars(left)}>
        of {dollars(money.credits_usd)}
      </Tile>
      <Tile name="Burning now" value={`${dollars(money.burn_usd_per_h)}/h`}>
        {vms.length === 0 ? "no VM is up" : `${plural(vms.length, "VM")} up`}
      </Tile>
      <Tile name="Reserved" value={dollars(money.reserved_usd)}>
        the most that VMs alive may still cost
      </Tile>
      <Tile name="Tasks done" value={count(tasks.completed)}>
        {data.queue.length === 0 ? "nobody waits" : `${count(data.queue.length)} waiting`}
      </Tile>
      <Tile name="Cost per task" value={dollars(tasks.cost_usd)}>
        all that was spent, over all tasks
      </Tile>
      <Tile name="Found a warm VM" value={warm === null ? "–" : `${significant(warm, warm === 100 ? 3 : 2)}%`}>
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
