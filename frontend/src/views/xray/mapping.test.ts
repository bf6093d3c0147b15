import { describe, expect, it } from "vitest";
import { instructionsByLine, mix, neighbour, rows } from "./mapping";

const pieces = [
  { line: 4, depth: 0, label: null, instructions: ["s_load", "s_mov"] },
  { line: null, depth: 0, label: null, instructions: ["s_nop"] },
  { line: 9, depth: 1, label: "BB0_2", instructions: ["v_add"] },
  { line: 4, depth: 0, label: null, instructions: ["s_endpgm"] },
];

describe("rows", () => {
  it("gives each instruction a row and each label one before its own", () => {
    expect(rows(pieces).map((row) => row.text)).toEqual([
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
  it("adds up what a line became, wherever it went", () => {
    expect([...instructionsByLine(pieces)]).toEqual([
      [4, 3],
      [9, 1],
    ]);
  });
});

describe("neighbour", () => {
  it("walks from line to line and stops at the ends", () => {
    expect(neighbour([9, 4], null, 1)).toBe(4);
    expect(neighbour([9, 4], 4, 1)).toBe(9);
    expect(neighbour([9, 4], 9, 1)).toBe(9);
    expect(neighbour([9, 4], 9, -1)).toBe(4);
    expect(neighbour([], null, 1)).toBeNull();
  });
});

describe("mix", () => {
  it("puts the most frequent kind first and leaves none out", () => {
    expect(mix({ wait: 1, "vector ALU": 3, call: 0 })).toEqual([
      { kind: "vector ALU", count: 3, share: 0.75 },
      { kind: "wait", count: 1, share: 0.25 },
    ]);
  });
});
