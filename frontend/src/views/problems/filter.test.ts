import { describe, expect, it } from "vitest";
import type { ProblemSummary } from "../../lib/types";
import { EVERYTHING, matching, searchOf, tagsOf, wantedOf } from "./filter";

function problem(slug: string, difficulty: string, tags: string[], solved = false): ProblemSummary {
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
const slugs = (wanted: Partial<typeof EVERYTHING>): string[] =>
  matching(ALL, { ...EVERYTHING, ...wanted }).map((each) => each.slug);

describe("the list of problems", () => {
  it("begins with the easiest", () => {
    expect(slugs({})).toEqual(["leaky-relu", "relu", "array-sort"]);
  });

  it("finds by every word of the search, in the title or a tag", () => {
    expect(slugs({ text: "RELU bound" })).toEqual(["leaky-relu"]);
    expect(slugs({ text: "nothing" })).toEqual([]);
  });

  it("narrows by tag, difficulty and what is solved", () => {
    expect(slugs({ tag: "activation", solved: "no" })).toEqual(["relu"]);
    expect(slugs({ difficulty: "hard" })).toEqual(["array-sort"]);
  });

  it("is found again by its address, which has nothing but what was asked for", () => {
    const wanted = { ...EVERYTHING, text: "relu & more", solved: "no" };
    expect(searchOf(wanted).toString()).toBe("q=relu+%26+more&solved=no");
    expect(wantedOf(searchOf(wanted))).toEqual(wanted);
    expect(searchOf(EVERYTHING).toString()).toBe("");
  });

  it("offers the most used tags first", () => {
    expect(tagsOf(ALL)).toEqual(["activation", "memory-bound", "sorting"]);
  });
});
