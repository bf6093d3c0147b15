import { expect, it } from "vitest";
import { TEAM_PATTERN, budgetText, parseBudget } from "./fields";

it("reads an empty budget as none", () => {
  expect([parseBudget(""), parseBudget(" "), parseBudget("2.50"), parseBudget("0.01")]).toEqual([null, null, 2.5, 0.01]);
});

it("writes a budget as it is read", () => {
  expect([null, 0.01, 2.5, 1_000_000].map((usd) => parseBudget(budgetText(usd)))).toEqual([null, 0.01, 2.5, 1_000_000]);
});

it("accepts the names of teams that the service accepts", () => {
  const pattern = new RegExp(`^(?:${TEAM_PATTERN})$`, "v");
  expect(["gpu-class_2026", "a@b.c", "-a", "a b", ""].map((name) => pattern.test(name))).toEqual([true, true, false, false, false]);
});
