/** What the page says of a run: before it, in the tab's title, and at its end. */
import { dollars, roughly, runtime, words } from "../../lib/format";
import { isFailure, type Ending, type Story } from "../../lib/story";
import type { Endpoint, Offer } from "../../lib/types";

/** `warm, about 9 s, $0.005 · 86% chance of a warm VM`. */
export function offerText(offer: Offer): string {
  const state = offer.vm_state === null ? "" : offer.vm_state === "WARM_REUSE" ? "warm, " : "cold, ";
  const queue = offer.position > 0 ? `, ${offer.position} before you` : "";
  return `${state}about ${roughly(offer.total_s)}, ${costText(offer)}${queue}${chanceText(offer)}`;
}

/** Who thinks for a while may come too late for a warm VM, or in time for one that boots. */
function chanceText({ vm_state: state, warm_chance: chance }: Offer): string {
  if (state === null || chance < 0.005) return "";
  const likely = chance >= 0.995 ? "over 99%" : `${Math.round(100 * chance)}%`;
  return ` · ${likely} chance of a warm VM`;
}

function costText(offer: Offer): string {
  if (offer.cost_usd === 0) return "free";
  return offer.simulated ? `${dollars(offer.cost_usd)} simulated` : dollars(offer.cost_usd);
}

/** Where a CPU stands in for the GPU, the picker says so. */
export function standInText(offer: Offer): string {
  return `simulated on this machine's CPU, ${offer.cost_usd === 0 ? "free" : "in simulated dollars"}`;
}

export function endingText(ending: Ending): string {
  if ("avg_runtime_ms" in ending) return `${words(ending.status)}, ${runtime(ending.avg_runtime_ms)}`;
  if (ending.status === "CHECKED") return `All ${ending.total_tests} cases right`;
  return words(ending.status);
}

/** For the tab: what goes on, the shortest first. */
export function titleOf(problem: string, story: Story | null): string {
  if (story === null) return problem;
  return `${stateText(story)} · ${problem}`;
}

/** The same as a headline. */
export function headline(story: Story): string {
  const text = stateText(story);
  return story.ending === null ? `${text.charAt(2).toUpperCase()}${text.slice(3)}` : text;
}

function stateText(story: Story): string {
  if (story.ending !== null) return `${isFailure(story.ending) ? "✗" : "✓"} ${endingText(story.ending)}`;
  switch (story.stage) {
    case "boot":
      return "… VM boots";
    case "compile":
      return "… compiling";
    case "check":
      return `… checking ${story.tests.length}/${story.totalTests}`;
    case "benchmark":
      return `… timing ${story.timings.length}/${story.totalTimings}`;
    case "queue":
      return "… in the queue";
    default:
      return "… sending";
  }
}

export const ACTIONS: Record<Exclude<Endpoint, "xray">, { name: string; keys: string; what: string }> = {
  checker: { name: "Run", keys: "Ctrl+Enter", what: "Checks every case" },
  benchmark: { name: "Benchmark", keys: "Ctrl+Shift+Enter", what: "Checks, then times" },
  submit: { name: "Submit", keys: "Ctrl+Alt+Enter", what: "Checks, times, and counts for the board" },
};

export type Action = keyof typeof ACTIONS;

/** Which action a key press asks for. */
export function actionOf(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">): Action | null {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return null;
  if (event.altKey) return "submit";
  return event.shiftKey ? "benchmark" : "checker";
}
