/** The current VMs: state, submissions, cost, and when each is released. */
import { Link } from "wouter";
import { Badge } from "../../components/Badge";
import { shortId } from "../../components/charts/VmTimeline";
import { Progress } from "../../components/Progress";
import { dollars, plural, span } from "../../lib/format";
import type { ForeignVmResponse, VmTimelineResponse, OperationsResponse, VmHealthCheck, VmTask, VmResponse } from "../../lib/generated";
import { costNow, deviceText, hourlyRate, idleTimeLeft, releasedInS } from "./calculations";

export function Vms({ data, now }: { data: OperationsResponse; now: number }): React.JSX.Element {
  const { vms, money, lanes } = data;
  const rate = hourlyRate(vms, money);
  const fetchedAt = Date.parse(data.now);
  return (
    <section className="card stack" aria-labelledby="vms-title">
      <h2 id="vms-title">VMs</h2>
      {vms.length === 0 ? (
        <p className="dim no-gap">
          No VMs are running, and nothing is being spent. The next submission starts one: <Link href="/problems">choose a problem</Link>.
        </p>
      ) : (
        <ul className="vms">
          {vms.map((vm) => (
            <VmItem
              key={vm.id}
              vm={vm}
              lane={lanes.find((lane) => lane.vm_id === vm.id)}
              cost={costNow(vm, rate, fetchedAt, now)}
              now={now}
            />
          ))}
        </ul>
      )}
      <FailedVms vms={data.failed_vms} />
      <ForeignVms vms={data.foreign_vms} />
    </section>
  );
}

/** VMs of other services in the same dstack project. They are only shown. */
function ForeignVms({ vms }: { vms: readonly ForeignVmResponse[] }): React.JSX.Element | null {
  if (vms.length === 0) return null;
  return (
    <details>
      <summary>{plural(vms.length, "VM")} of other services</summary>
      <p className="small dim no-gap">They are in the same dstack project. This service does not use, count or end them.</p>
      <ul className="vms">
        {vms.map((vm) => (
          <li className="vm" key={vm.name}>
            <div className="row">
              <span className="badge">Foreign</span>
              <code className="grow">{vm.name}</code>
              <strong>{vm.rate_usd_per_h === null ? "" : `${dollars(vm.rate_usd_per_h)} per hour`}</strong>
            </div>
            <p className="small dim no-gap">
              {vm.owner === null ? "Not labeled by any service" : `Service ${vm.owner}`} · fleet {vm.fleet ?? "–"} · {vm.status} · run {vm.used_by}
            </p>
          </li>
        ))}
      </ul>
    </details>
  );
}

function FailedVms({ vms }: { vms: readonly VmResponse[] }): React.JSX.Element | null {
  if (vms.length === 0) return null;
  return (
    <details>
      <summary>{plural(vms.length, "VM")} failed</summary>
      <ul className="vms">
        {vms.map((vm) => (
          <li className="vm" key={vm.id}>
            <div className="row">
              <Badge status={vm.state} />
              <code className="grow" title={vm.id}>
                {shortId(vm.id)}
              </code>
              <strong>{dollars(vm.cost_usd)}</strong>
            </div>
            <p className="no-gap">{sentence(vm.reason)}</p>
            <GpuHealth vm={vm} />
          </li>
        ))}
      </ul>
    </details>
  );
}

interface Props {
  vm: VmResponse;
  lane: VmTimelineResponse | undefined;
  cost: number;
  now: number;
}

function gpus(vm: VmResponse): string {
  const name = vm.gpu_count > 1 ? `${vm.gpu_count} × ${vm.gpu_type}` : vm.gpu_type;
  return vm.simulated ? `${name}, simulated` : name;
}

function VmItem({ vm, lane, cost, now }: Props): React.JSX.Element {
  const age = (now - Date.parse(vm.created_at)) / 1000;
  return (
    <li className="vm">
      <div className="row">
        <Badge status={vm.state} />
        <code className="grow" title={vm.id}>
          {shortId(vm.id)}
        </code>
        <strong>{dollars(cost)}</strong>
      </div>
      <p className="small dim no-gap">
        {gpus(vm)} · {vm.slots > 1 && `${vm.slots_used} of ${vm.slots} slots used · `}{span(age)} old · {plural(vm.tasks_done, "submission")} completed · {dollars(vm.reserved_usd)} reserved
      </p>
      {vm.tasks.map((task) => (
        <RunningSubmission key={task.submission_id ?? task.since} task={task} now={now} />
      ))}
      <Countdown vm={vm} lane={lane} now={now} />
      {vm.reason !== "" && <p className="small dim no-gap">{sentence(vm.reason)}</p>}
      <GpuHealth vm={vm} />
    </li>
  );
}

/** What the GPUs of a VM report about themselves, and the results of the checks before it was ready. */
function GpuHealth({ vm }: { vm: VmResponse }): React.JSX.Element | null {
  const { devices, gpu_health: health } = vm;
  if (devices.length === 0 && health === null) return null;
  const failed = health?.checks.filter((check) => !check.ok) ?? [];
  const title = health === null ? "GPU" : health.ok ? "GPU healthy" : "GPU not healthy";
  return (
    <details className="small">
      <summary>
        {title}
        {failed.length > 0 && `, ${plural(failed.length, "check")} of ${health?.checks.length ?? 0} failed`}
      </summary>
      {devices.map((device, index) => (
        <p key={index} className="dim no-gap">
          {deviceText(device)}
        </p>
      ))}
      {health !== null && health.checks.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={`Checks of ${shortId(vm.id)}`}>
          <table>
            <tbody>
              {[...failed, ...health.checks.filter((check) => check.ok)].map((check) => (
                <tr key={check.name}>
                  <td>
                    <span className={`badge ${checkTone(check)}`}>{check.ok ? "Passed" : check.required ? "Failed" : "Advice"}</span>
                  </td>
                  <th scope="row">{check.name}</th>
                  <td>
                    {check.detail}
                    {!check.ok && check.remedy !== "" && <span className="dim"> {check.remedy}</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function checkTone({ ok, required }: VmHealthCheck): string {
  if (ok) return "good";
  return required ? "bad" : "warn";
}

function RunningSubmission({ task, now }: { task: VmTask; now: number }): React.JSX.Element {
  const since = span((now - Date.parse(task.since)) / 1000);
  if (task.submission_id === null) return <p className="no-gap">Submission of another user, running for {since}</p>;
  return (
    <p className="no-gap">
      <Link href={`/submissions/${task.submission_id}`}>
        {task.problem}, {task.endpoint}
      </Link>{" "}
      by {task.user}, running for {since}
    </p>
  );
}

/** The time until an idle VM is released. */
function Countdown({ vm, lane, now }: { vm: VmResponse; lane: VmTimelineResponse | undefined; now: number }): React.JSX.Element | null {
  const left = releasedInS(vm, now);
  if (left === null) return null;
  const timeLeft = idleTimeLeft(vm, lane, now);
  return (
    <>
      <p className="no-gap">
        {left === 0 ? "Being released" : `Released in ${span(left)} if it stays idle`}
      </p>
      {timeLeft !== null && <Progress share={timeLeft} label="Time until release" />}
    </>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
