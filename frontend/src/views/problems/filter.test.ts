import { describe, expect, it } from "vitest";
import type { Difficulty, ProblemResponse } from "../../lib/generated";
import { filterProblems, firstProblem, fromSearchParams, NO_FILTER, tagsByUse, toSearchParams } from "./filter";

function problem(slug: string, difficulty: Difficulty, tags: string[], solved = false): ProblemResponse {
  return {
    slug,
    title: slug.replace("-", " "),
    difficulty,
    tags,
    dtypes: ["float32"],
    aliases: [],
    declaration: "",
    formula: null,
    solutions: 0,
    best_times: [],
    solved,
  };
}

const ALL = [
  problem("array-sort", "hard", ["sorting"]),
  problem("leaky-relu", "easy", ["activation", "memory-bound"], true),
  problem("relu", "easy", ["activation"]),
];
const slugs = (filter: Partial<typeof NO_FILTER>): string[] =>
  filterProblems(ALL, { ...NO_FILTER, ...filter }).map(({ slug }) => slug);

describe("firstProblem", () => {
  it("is vector addition, otherwise the easiest", () => {
    expect(firstProblem(ALL)?.slug).toBe("leaky-relu");
    expect(firstProblem([...ALL, problem("vector-addition", "easy", [])])?.slug).toBe("vector-addition");
    expect(firstProblem([])).toBeUndefined();
  });
});

describe("filterProblems", () => {
  it("lists the easiest first", () => {
    expect(slugs({})).toEqual(["leaky-relu", "relu", "array-sort"]);
  });

  it("requires every search word in the title or a tag", () => {
    expect(slugs({ text: "RELU bound" })).toEqual(["leaky-relu"]);
    expect(slugs({ text: "nothing" })).toEqual([]);
  });

  it("filters by tag, difficulty and solved state", () => {
    expect(slugs({ tag: "activation", solved: "no" })).toEqual(["relu"]);
    expect(slugs({ difficulty: "hard" })).toEqual(["array-sort"]);
  });

  it("round-trips through the address, which contains only the active filters", () => {
    const filter = { ...NO_FILTER, text: "relu & more", solved: "no" };
    expect(toSearchParams(filter).toString()).toBe("q=relu+%26+more&solved=no");
    expect(fromSearchParams(toSearchParams(filter))).toEqual(filter);
    expect(toSearchParams(NO_FILTER).toString()).toBe("");
  });

  it("lists the most used tags first", () => {
    expect(tagsByUse(ALL)).toEqual(["activation", "memory-bound", "sorting"]);
  });
});
