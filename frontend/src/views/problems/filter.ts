/** Which problems a search shows. */
import type { ProblemSummary } from "../../lib/types";

export interface Wanted {
  text: string;
  tag: string;
  difficulty: string;
  solved: string;
}

export const EVERYTHING: Wanted = { text: "", tag: "", difficulty: "", solved: "" };
/** What the address keeps of a search, so that going back finds it again, and a link shares it. */
export function wantedOf(search: URLSearchParams): Wanted {
  const field = (name: string): string => search.get(name) ?? "";
  return { text: field("q"), tag: field("tag"), difficulty: field("difficulty"), solved: field("solved") };
}

export function searchOf({ text, ...others }: Wanted): URLSearchParams {
  return new URLSearchParams(Object.entries({ q: text, ...others }).filter(([, value]) => value !== ""));
}

const ORDER = ["easy", "medium", "hard"];

/** Every word must be somewhere in the title, the slug, an alias or a tag. The easiest come first. */
export function matching(problems: readonly ProblemSummary[], wanted: Wanted): ProblemSummary[] {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  return problems
    .filter((each) => wanted.tag === "" || each.tags.includes(wanted.tag))
    .filter((each) => wanted.difficulty === "" || each.difficulty === wanted.difficulty)
    .filter((each) => wanted.solved === "" || each.solved === (wanted.solved === "yes"))
    .filter((each) => {
      const text = [each.title, each.slug, ...each.aliases, ...each.tags].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => ORDER.indexOf(a.difficulty) - ORDER.indexOf(b.difficulty) || a.title.localeCompare(b.title));
}

/** Every tag, the most used first. */
export function tagsOf(problems: readonly ProblemSummary[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of problems.flatMap((each) => each.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([tag]) => tag);
}
