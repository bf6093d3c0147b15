import { describe, expect, it } from "vitest";
import { assemblyRows, instructionsByLine, mix, nextLine } from "./mapping";

const blocks = [
  { line: 4, depth: 0, label: null, instructions: ["s_load", "s_mov"] },
  { line: null, depth: 0, label: null, instructions: ["s_nop"] },
  { line: 9, depth: 1, label: "BB0_2", instructions: ["v_add"] },
  { line: 4, depth: 0, label: null, instructions: ["s_endpgm"] },
];

describe("assemblyRows", () => {
  it("returns a row per instruction, and one before for each label", () => {
    expect(assemblyRows(blocks).map((row) => row.text)).toEqual([
      "s_load",
      "s_mov",
      "s_nop",
      ".LBB0_2:",
      "v_add",
      "s_endpgm",
    ]);
  });
});

describe("instructionsByLine", () => {
  it("adds up all blocks of a line", () => {
    expect([...instructionsByLine(blocks)]).toEqual([
      [4, 3],
      [9, 1],
    ]);
  });
});

describe("nextLine", () => {
  it("moves from line to line and stops at the ends", () => {
    expect(nextLine([9, 4], null, 1)).toBe(4);
    expect(nextLine([9, 4], 4, 1)).toBe(9);
    expect(nextLine([9, 4], 9, 1)).toBe(9);
    expect(nextLine([9, 4], 9, -1)).toBe(4);
    expect(nextLine([], null, 1)).toBeNull();
  });
});

describe("mix", () => {
  it("sorts by frequency and omits kinds that do not occur", () => {
    expect(mix({ wait: 1, "vector ALU": 3, call: 0 })).toEqual([
      { kind: "vector ALU", count: 3, share: 0.75 },
      { kind: "wait", count: 1, share: 0.25 },
    ]);
  });
});
