/** The run buttons and their keyboard shortcuts. */
import type { Endpoint } from "../../lib/generated";

export const ACTIONS: Record<Exclude<Endpoint, "xray">, { name: string; keys: string; description: string; explanation: string }> = {
  checker: {
    name: "Run",
    keys: "Ctrl+Enter",
    description: "Check every case",
    explanation: "Checks the results of every case without timing them. This is the fastest way to get a verdict.",
  },
  benchmark: {
    name: "Benchmark",
    keys: "Ctrl+Shift+Enter",
    description: "Check, then time",
    explanation: "Checks the results, then measures how long each timed case takes. The result is not entered on the leaderboard.",
  },
  submit: {
    name: "Submit",
    keys: "Ctrl+Alt+Enter",
    description: "Check, time, and enter the leaderboard",
    explanation: "Checks and measures, and enters the result on the leaderboard if every case passes.",
  },
};

export type Action = keyof typeof ACTIONS;

type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">;

/** Return the action of a keyboard shortcut, or null. */
export function actionForKey(event: KeyPress): Action | null {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return null;
  if (event.altKey) return "submit";
  return event.shiftKey ? "benchmark" : "checker";
}
