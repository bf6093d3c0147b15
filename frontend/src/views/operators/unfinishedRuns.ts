/** List the submissions without a verdict: those on VMs first, then the queue. Pure. */
import type { OperationsResponse } from "../../lib/generated";

export interface UnfinishedRun {
  id: string;
  problem: string;
  endpoint: string;
  user: string;
  state: "Running" | "Queued";
  since: string;
}

export function unfinishedRuns({ vms, queue }: Pick<OperationsResponse, "vms" | "queue">): UnfinishedRun[] {
  const running = vms.flatMap((vm) => vm.tasks.map((task) => ({ ...task, state: "Running" as const })));
  const queued = queue.items.map((item) => ({ ...item, state: "Queued" as const }));
  return [...running, ...queued].flatMap(({ submission_id: id, problem, endpoint, user, state, since }) =>
    id === null ? [] : [{ id, problem: problem ?? "", endpoint: endpoint ?? "", user: user ?? "", state, since }],
  );
}
