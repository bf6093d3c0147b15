/** The VMs with the actions that an operator can take on each. */
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { DataTable } from "../../components/DataTable";
import { shortId } from "../../components/charts/VmTimeline";
import { dateTime, dollars, span } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { VmResponse } from "../../lib/generated";
import { actOnVm, vmActions, type VmAction } from "./requests";

const HOUR_MS = 3_600_000;
const PIN_HOURS = [1, 4, 8, 24, 72];
const NAMES: Record<VmAction, string> = { drain: "Drain", release: "Release", pin: "Pin", unpin: "Unpin" };

interface Chosen {
  vm: VmResponse;
  action: VmAction;
}

export function VmControls({ vms, now, onChange }: { vms: VmResponse[]; now: number; onChange: () => void }): React.JSX.Element {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return (
    <section className="card stack" aria-labelledby="vm-controls-title">
      <h2 id="vm-controls-title">VMs</h2>
      {vms.length === 0 ? (
        <p className="dim">No VMs are running, and nothing is being spent.</p>
      ) : (
        <DataTable
          label="VMs and their actions"
          columns={[
            { name: "VM", nowrap: true, cell: (vm) => <code title={vm.id}>{shortId(vm.id)}</code> },
            { name: "State", cell: (vm) => <VmBadges vm={vm} /> },
            { name: "Running", number: true, cell: (vm) => `${vm.slots_used} of ${vm.slots}` },
            { name: "Cost so far", number: true, cell: (vm) => dollars(vm.cost_usd) },
            { name: "Per hour", number: true, cell: (vm) => dollars(vm.rate_usd_per_h) },
            { name: "Kept until", cell: (vm) => keptText(vm, now) },
            { name: "Actions", actions: true, cell: (vm) => <VmButtons vm={vm} onChoose={(action) => setChosen({ vm, action })} /> },
          ]}
          rows={vms}
          rowKey={(vm) => vm.id}
          testId="vm-row"
        />
      )}
      {chosen !== null && <ActionDialog {...chosen} onDone={onChange} onClose={() => setChosen(null)} />}
    </section>
  );
}

function VmBadges({ vm }: { vm: VmResponse }): React.JSX.Element {
  return (
    <>
      <Badge status={vm.state} /> {vm.draining && <span className="badge warn">Draining</span>}{" "}
      {vm.pinned_until !== null && <span className="badge info">Pinned</span>}
    </>
  );
}

function VmButtons({ vm, onChoose }: { vm: VmResponse; onChoose: (action: VmAction) => void }): React.JSX.Element {
  if (vm.state === "SHUTTING_DOWN") return <span className="dim">Shutting down</span>;
  const actions: VmAction[] = vm.draining ? ["release"] : ["drain", "release", vm.pinned_until === null ? "pin" : "unpin"];
  return (
    <>
      {actions.map((action) => (
        <button key={action} className="button small" onClick={() => onChoose(action)} aria-label={`${NAMES[action]} VM ${shortId(vm.id)}`}>
          {NAMES[action]}…
        </button>
      ))}
    </>
  );
}

/** Until when a VM is kept; empty while it works. */
function keptText(vm: VmResponse, now: number): string {
  if (vm.pinned_until !== null) return `${dateTime(vm.pinned_until)}, pinned`;
  if (vm.deadline_at === null) return "–";
  return `${span(Math.max(0, (Date.parse(vm.deadline_at) - now) / 1000))} from now`;
}

function ActionDialog({ vm, action, onDone, onClose }: Chosen & { onDone: () => void; onClose: () => void }): React.JSX.Element {
  const [hours, setHours] = useState(4);
  const [start] = useState(() => Date.now());
  const until = action === "pin" ? new Date(start + hours * HOUR_MS).toISOString() : null;
  const { data, error } = useQuery(`actions ${vm.id} ${action} ${until}`, () => vmActions(vm.id, until));
  const effect = data?.items.find((item) => item.action === `vm.${action}`);
  return (
    <ConfirmDialog
      title={`${NAMES[action]} VM ${shortId(vm.id)}?`}
      confirm={`${NAMES[action]} VM`}
      danger={action === "release"}
      ready={effect !== undefined}
      onConfirm={async () => {
        await actOnVm(vm.id, action, until);
        onDone();
      }}
      onClose={onClose}
    >
      {action === "pin" && (
        <label className="row">
          Keep it for
          <select value={hours} onChange={(event) => setHours(Number(event.target.value))}>
            {PIN_HOURS.map((count) => (
              <option key={count} value={count}>
                {count === 1 ? "1 hour" : `${count} hours`}
              </option>
            ))}
          </select>
        </label>
      )}
      {effect !== undefined && <p data-testid="effect">{effect.text}</p>}
      {effect === undefined && error === null && <p className="dim">Computing what this saves or costs…</p>}
      {error !== null && <p>{errorText(error)}</p>}
    </ConfirmDialog>
  );
}
