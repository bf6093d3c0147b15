/** The VMs alive: what each does, until when it is kept, and what it came to. */
import { Link } from "wouter";
import { Badge } from "../../parts/Badge";
import { short } from "../../parts/figures/Lanes";
import { Progress } from "../../parts/Progress";
import { dollars, plural, span } from "../../lib/format";
import type { Lane, Operations, Turn, Vm } from "../../lib/types";
import { costNow, idleShare, rateOf, releasedInS } from "./sums";

export function Vms({ data, now }: { data: Operations; now: number }): React.JSX.Element {
  const { vms, money, lanes } = data;
  const rate = rateOf(vms, money);
  const saidAt = Date.parse(data.now);
  return (
    <section className="card stack" aria-labelledby="vms-title">
      <h2 id="vms-title">VMs now</h2>
      {vms.length === 0 ? (
        <p className="dim no-gap">
          No VM is up, and nothing is being spent. The next submission starts one: <Link href="/problems">pick a problem</Link>.
        </p>
      ) : (
        <ul className="vms">
          {vms.map((vm) => (
            <OneVm
              key={vm.id}
              vm={vm}
              lane={lanes.find((lane) => lane.vm_id === vm.id)}
              cost={costNow(vm, rate, saidAt, now)}
              now={now}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface Props {
  vm: Vm;
  lane: Lane | undefined;
  cost: number;
  now: number;
}

function OneVm({ vm, lane, cost, now }: Props): React.JSX.Element {
  const age = (now - Date.parse(vm.created_at)) / 1000;
  return (
    <li className="vm">
      <div className="row">
        <Badge status={vm.state} />
        <code className="grow" title={vm.id}>
          {short(vm.id)}
        </code>
        <strong>{dollars(cost)}</strong>
      </div>
      <p className="small dim no-gap">
        {vm.simulated ? `CPU standing in for ${vm.gpu_type}` : vm.gpu_type} · {span(age)} old · {plural(vm.tasks_done, "task")} done · {dollars(vm.reserved_usd)} at most
      </p>
      {vm.tasks.map((task) => (
        <Task key={task.submission_id ?? task.since} task={task} now={now} />
      ))}
      <Countdown vm={vm} lane={lane} now={now} />
      {vm.reason !== "" && <p className="small dim no-gap">{sentence(vm.reason)}</p>}
    </li>
  );
}

function Task({ task, now }: { task: Turn; now: number }): React.JSX.Element {
  const since = span((now - Date.parse(task.since)) / 1000);
  if (task.submission_id === null) return <p className="no-gap">A submission of another user, for {since}</p>;
  return (
    <p className="no-gap">
      <Link href={`/submissions/${task.submission_id}`}>
        {task.problem}, {task.endpoint}
      </Link>{" "}
      of {task.user}, for {since}
    </p>
  );
}

/** Until an idle VM is let go. */
function Countdown({ vm, lane, now }: { vm: Vm; lane: Lane | undefined; now: number }): React.JSX.Element | null {
  const left = releasedInS(vm, now);
  if (left === null) return null;
  const share = idleShare(vm, lane, now);
  return (
    <>
      <p className="no-gap">
        {left === 0 ? "Is being released" : `Released in ${span(left)} if nothing comes`}
      </p>
      {share !== null && <Progress share={share} label="Time left before it is released" />}
    </>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
