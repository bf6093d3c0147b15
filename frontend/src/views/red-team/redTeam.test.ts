import { describe, expect, it } from "vitest";
import board from "./board.json";
import { timeText, type Attack } from "./redTeamText";

const ATTACK: Attack = {
  name: "forges_time",
  summary: "",
  control: "honest",
  verdicts: ["ACCEPTED"],
  time_ratio: 1.01,
  self_reported_ratio: 0.001,
  caught: true,
};

describe("the red-team board", () => {
  it("says which time an attack got, and which one it claimed", () => {
    expect(timeText(ATTACK)).toBe("1.01 of its true time; it claimed 0.00");
    expect(timeText({ ...ATTACK, time_ratio: null })).toBe("");
  });

  it("counts every attack of every family once", () => {
    expect(board.families.reduce((sum, family) => sum + family.attacks.length, 0)).toBe(board.attacks);
    expect(board.families.reduce((sum, family) => sum + family.caught, 0)).toBe(board.caught);
  });
});
