/** Why a submission waits for a VM, in one line. */
import { roughly } from "./format";
import type { WaitingEvent } from "./generated";

/** Kinds of events without a next try: an operator has paused the queue, or a check waits for a GPU because there are no CPU nodes. */
const NOT_RETRIED = new Set(["INTAKE_PAUSED", "NO_CPU_NODES"]);

/** Describe the event as of `sinceS` seconds after it. */
export function waitingText(event: WaitingEvent, sinceS = 0): string {
  const ahead = event.ahead > 0 ? `${event.ahead} ahead of you` : "you are next";
  if (NOT_RETRIED.has(event.kind)) return `${event.reason.replace(/\.$/, "")}; ${ahead}`;
  const retryS = event.retry_in_s - Math.max(0, sinceS);
  const retry = retryS > 0 ? `retrying in ${roughly(retryS)}` : "retrying now";
  const eta = event.eta_s === null ? "" : `; if a VM is available then, starts in about ${roughly(Math.max(0, event.eta_s - sinceS))}`;
  return `${event.reason.replace(/\.$/, "")}; ${retry}; ${ahead}${eta}`;
}
