/** Summarize the what-if simulation of this month, as a sentence and as table rows. Pure. */
import { count, dollars, plural } from "../../lib/format";
import type { WhatIfResponse } from "../../lib/generated";

export interface PolicyRow {
  name: string;
  kind: "actual" | "other" | "best";
  usd: number;
  /** Relative to the highest cost, 0 to 1. */
  share: number;
  /** Null for the actual costs, which are not simulated. */
  coldStarts: number | null;
  waitMeanS: number | null;
  /** Including the value of waiting time, as configured by the operator. */
  withWaitingUsd: number | null;
}

/** Nothing was billed, since VMs are local: the simulated costs are those of a cloud. */
export function isFree(data: WhatIfResponse): boolean {
  return data.simulated && data.spent_usd === 0;
}

/** `This month cost $41.20; with fixed 10 minutes it would have cost $78.90; the best possible is $36.10.` */
export function whatIfText(data: WhatIfResponse): string {
  const others = data.items.filter(({ best: isBest }) => !isBest);
  const best = data.items.find(({ best: isBest }) => isBest);
  const start = isFree(data) ? "This month was free; in a cloud," : `This month cost ${spentText(data)};`;
  const alternatives = others.map(({ policy, usd }, index) => `with ${policy} ${index === 0 ? "it would have cost " : ""}${dollars(usd)}`);
  const last = best === undefined ? [] : [`the best possible is ${dollars(best.usd)}`];
  return `${start} ${[...alternatives, ...last].join("; ")}.`;
}

/** `Replay of the 13 submissions that got a VM: 12 completed, 1 not.` */
export function replayText({ tasks, completed }: WhatIfResponse): string {
  const others = tasks - completed;
  const which = others === 0 ? ", all completed" : `: ${count(completed)} completed, ${count(others)} cancelled, failed or running`;
  return `Replay of ${plural(tasks, "submission")} that got a VM this month${which}`;
}

function spentText({ spent_usd: usd, simulated }: WhatIfResponse): string {
  return simulated ? `${dollars(usd)} simulated` : dollars(usd);
}

/** Table rows: the actual costs first, the best possible last. */
export function policyRows(data: WhatIfResponse): PolicyRow[] {
  const max = Math.max(data.spent_usd, ...data.items.map(({ usd }) => usd));
  const share = (usd: number): number => (max > 0 ? usd / max : 0);
  const actual: PolicyRow = {
    name: "actual",
    kind: "actual",
    usd: data.spent_usd,
    share: share(data.spent_usd),
    coldStarts: null,
    waitMeanS: null,
    withWaitingUsd: null,
  };
  const others = data.items.map(
    (item): PolicyRow => ({
      name: item.best ? "best possible" : item.policy,
      kind: item.best ? "best" : "other",
      usd: item.usd,
      share: share(item.usd),
      coldStarts: item.cold_starts,
      waitMeanS: item.wait_mean_s,
      withWaitingUsd: item.cost_usd,
    }),
  );
  return [actual, ...others.filter(({ kind }) => kind === "other"), ...others.filter(({ kind }) => kind === "best")];
}
