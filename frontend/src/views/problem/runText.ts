/** Text about a run: the quote before it, the title of the tab during it, and the verdict. */
import { dollars, roughly, statusText } from "../../lib/format";
import { simulatedTime } from "../../lib/simulatedTime";
import { timeText } from "../../lib/timingText";
import { isFailure, type SubmissionProgress, type VerdictEvent } from "../../lib/submissionProgress";
import type { QuoteResponse } from "../../lib/generated";

/** `warm start, about 9 s, $0.005 · 86% chance that a VM is still warm if you submit within about a minute`. */
export function quoteText(quote: QuoteResponse): string {
  const start = quote.vm_state === null ? "" : quote.vm_state === "WARM_REUSE" ? "warm start, " : "cold start, ";
  const queue = quote.position > 0 ? `, ${quote.position} ahead of you` : "";
  return `${start}about ${roughly(quote.total_s)}, ${costText(quote)}${queue}${chanceText(quote)}`;
}

/** What the chance refers to: a VM that is ready when the submission is sent, by an author who takes about a minute. */
function chanceText({ vm_state: state, warm_chance: chance }: QuoteResponse): string {
  if (state === null || chance < 0.005) return "";
  const likely = chance >= 0.995 ? "over 99%" : `${Math.round(100 * chance)}%`;
  const what = state === "WARM_REUSE" ? "that a VM is still warm" : "that a VM is ready";
  return ` · ${likely} chance ${what} if you submit within about a minute`;
}

function costText(quote: QuoteResponse): string {
  if (quote.cost_usd === 0) return "free";
  return quote.simulated ? `${dollars(quote.cost_usd)} simulated` : dollars(quote.cost_usd);
}

/** Shown beside the buttons if submissions run on the CPU runtime instead of a GPU. */
export function simulationText(quote: QuoteResponse): string {
  return `Simulated on this machine's CPU, ${quote.cost_usd === 0 ? "free" : "in simulated dollars"}`;
}

export function verdictText(verdict: VerdictEvent, toolchain: string): string {
  if ("avg_runtime_ms" in verdict) {
    const { status, avg_runtime_ms: ms, avg_ci: ci, noisy = false, simulated } = verdict;
    return `${statusText(status)}, ${timeText(ms, ci)}${simulated ? ` of ${simulatedTime(toolchain)}` : ""}${noisy ? ", noisy" : ""}`;
  }
  if (verdict.status === "CHECKED" && verdict.test_results[0]?.name === "launch") return "The launch completed";
  if (verdict.status === "CHECKED") return `All ${verdict.total_tests} cases passed`;
  return statusText(verdict.status);
}

/** The title of the tab, with the state first: tabs show only the beginning. */
export function tabTitle(problem: string, progress: SubmissionProgress | null): string {
  if (progress === null) return problem;
  const sign = progress.verdict === null ? "…" : isFailure(progress.verdict) ? "✗" : "✓";
  return `${sign} ${stateText(progress)} · ${problem}`;
}

export function headline(progress: SubmissionProgress): string {
  if (progress.verdict === null) return stateText(progress);
  return `${isFailure(progress.verdict) ? "✗" : "✓"} ${stateText(progress)}`;
}

function stateText(progress: SubmissionProgress): string {
  if (progress.verdict !== null) return verdictText(progress.verdict, progress.toolchain);
  switch (progress.stage) {
    case "provisioning":
      return "Provisioning a VM";
    case "compile":
      return "Compiling";
    case "check":
      return `Checking ${progress.tests.length}/${progress.totalTests}`;
    case "benchmark":
      return `Timing ${progress.timings.length}/${progress.totalTimings}`;
    case "queue":
      return "Queued";
    default:
      return "Sending";
  }
}
