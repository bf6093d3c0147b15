import { describe, expect, it } from "vitest";
import { diffRows, foldUnchanged, type Row } from "./diff";

const lines = (...texts: string[]): string => texts.join("\n");
const side = (rows: Row[], which: "left" | "right"): string =>
  rows.flatMap((row) => row[which]?.text ?? []).join("\n");
const kinds = (rows: Row[]): string => rows.map((row) => row.kind.charAt(0)).join("");

describe("diffRows", () => {
  it("reports no change for equal texts", () => {
    expect(kinds(diffRows("a\nb", "a\nb"))).toBe("ss");
  });

  it("distinguishes added, changed and removed lines", () => {
    expect(kinds(diffRows(lines("a", "c"), lines("a", "b", "c")))).toBe("sas");
    expect(kinds(diffRows(lines("a", "b", "c"), lines("a", "x", "c")))).toBe("scs");
    expect(kinds(diffRows(lines("a", "b", "c"), lines("a", "c")))).toBe("srs");
  });

  it("numbers the lines of each side separately", () => {
    const rows = diffRows(lines("a", "c"), lines("a", "b", "c"));
    expect(rows.at(-1)).toEqual({
      kind: "same",
      left: { line: 2, text: "c" },
      right: { line: 3, text: "c" },
    });
  });

  it("keeps every line of both sides for random texts", () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
    for (let round = 0; round < 200; round += 1) {
      const make = (): string =>
        Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
          "abcd".charAt(Math.floor(random() * 4)),
        ).join("\n");
      const [before, after] = [make(), make()];
      const rows = diffRows(before, after);
      expect(side(rows, "left")).toBe(before);
      expect(side(rows, "right")).toBe(after);
      for (const row of rows) if (row.kind === "same") expect(row.left?.text).toBe(row.right?.text);
    }
  });

  it("treats texts beyond the edit limit as rewritten, without losing lines", () => {
    const before = Array.from({ length: 1500 }, (_, index) => `a${index}`).join("\n");
    const after = Array.from({ length: 1500 }, (_, index) => `b${index}`).join("\n");
    const rows = diffRows(before, after);
    expect(side(rows, "left")).toBe(before);
    expect(rows.every((row) => row.kind === "changed")).toBe(true);
  });
});

describe("foldUnchanged", () => {
  it("keeps context around a change and folds the rest", () => {
    const before = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const after = before.map((line, index) => (index === 20 ? "new" : line));
    const shown = foldUnchanged(diffRows(before.join("\n"), after.join("\n")));
    expect(shown[0]).toMatchObject({ kind: "fold" });
    expect(shown.filter(({ kind }) => kind !== "fold")).toHaveLength(7);
  });

  it("does not fold short stretches", () => {
    expect(foldUnchanged(diffRows("a\nb", "a\nc"))).toHaveLength(2);
  });
});
