/** This month as it was and as it might have been, in words and as bars. Pure. */
import { dollars } from "../../lib/format";
import type { WhatIf } from "../../lib/types";

export interface Way {
  name: string;
  kind: "actual" | "other" | "best";
  usd: number;
  /** Of the longest bar, 0 to 1. */
  share: number;
  /** What was simulated has them; what really happened is told elsewhere on the page. */
  coldStarts: number | null;
  waitMeanS: number | null;
  /** With waiting at the value that the operator gave it. */
  withWaitingUsd: number | null;
}

/** Nothing was paid here, since this machine is free: what is told is what a cloud would have taken. */
export function isFree(told: WhatIf): boolean {
  return told.simulated && told.spent_usd === 0;
}

/** `this month $41.20; with fixed 10 minutes it would have been $78.90; the best possible was $36.10`. */
export function whatIfText(told: WhatIf): string {
  const others = told.items.filter((each) => !each.best);
  const best = told.items.find((each) => each.best);
  const began = isFree(told) ? "This month was free; in the cloud," : `This month ${paid(told)};`;
  const words = others.map(({ policy, usd }, at) => `with ${policy} ${at === 0 ? "it would have been " : ""}${dollars(usd)}`);
  const last = best === undefined ? [] : [`the best possible was ${dollars(best.usd)}`];
  return `${began} ${[...words, ...last].join("; ")}.`;
}

function paid({ spent_usd: usd, simulated }: WhatIf): string {
  return simulated ? `${dollars(usd)} simulated` : dollars(usd);
}

/** What was paid first, the best possible last. */
export function waysOf(told: WhatIf): Way[] {
  const most = Math.max(told.spent_usd, ...told.items.map((each) => each.usd));
  const share = (usd: number): number => (most > 0 ? usd / most : 0);
  const actual: Way = {
    name: "as it was",
    kind: "actual",
    usd: told.spent_usd,
    share: share(told.spent_usd),
    coldStarts: null,
    waitMeanS: null,
    withWaitingUsd: null,
  };
  const others = told.items.map(
    (each): Way => ({
      name: each.best ? "best possible" : each.policy,
      kind: each.best ? "best" : "other",
      usd: each.usd,
      share: share(each.usd),
      coldStarts: each.cold_starts,
      waitMeanS: each.wait_mean_s,
      withWaitingUsd: each.cost_usd,
    }),
  );
  return [actual, ...others.filter((way) => way.kind === "other"), ...others.filter((way) => way.kind === "best")];
}
