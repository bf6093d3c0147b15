/** Search and filter the list of problems. */
import type { ProblemResponse } from "../../lib/generated";

export interface ProblemFilter {
  text: string;
  tag: string;
  difficulty: string;
  solved: string;
}

export const NO_FILTER: ProblemFilter = { text: "", tag: "", difficulty: "", solved: "" };

/** Read the filter from the address, where it survives navigation and can be shared. */
export function fromSearchParams(search: URLSearchParams): ProblemFilter {
  const field = (name: string): string => search.get(name) ?? "";
  return { text: field("q"), tag: field("tag"), difficulty: field("difficulty"), solved: field("solved") };
}

export function toSearchParams({ text, ...others }: ProblemFilter): URLSearchParams {
  return new URLSearchParams(Object.entries({ q: text, ...others }).filter(([, value]) => value !== ""));
}

const ORDER = ["easy", "medium", "hard"];

/** Keep the problems that contain every search word in the title, slug, an alias or a tag; easiest first. */
export function filterProblems(problems: readonly ProblemResponse[], filter: ProblemFilter): ProblemResponse[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return problems
    .filter((problem) => filter.tag === "" || problem.tags.includes(filter.tag))
    .filter((problem) => filter.difficulty === "" || problem.difficulty === filter.difficulty)
    .filter((problem) => filter.solved === "" || problem.solved === (filter.solved === "yes"))
    .filter((problem) => {
      const text = [problem.title, problem.slug, ...problem.aliases, ...problem.tags].join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => ORDER.indexOf(a.difficulty) - ORDER.indexOf(b.difficulty) || a.title.localeCompare(b.title));
}

/** Where a newcomer begins. */
const FIRST = "vector-addition";

/** The problem for a first visit: the classic, otherwise the easiest. */
export function firstProblem(problems: readonly ProblemResponse[]): ProblemResponse | undefined {
  return problems.find(({ slug }) => slug === FIRST) ?? filterProblems(problems, NO_FILTER)[0];
}

/** All tags, most used first. */
export function tagsByUse(problems: readonly ProblemResponse[]): string[] {
  const counts = new Map<string, number>();
  for (const tag of problems.flatMap((problem) => problem.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([tag]) => tag);
}
