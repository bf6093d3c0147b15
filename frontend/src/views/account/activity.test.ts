import { expect, it } from "vitest";
import { activityGrid, level, monthLabels } from "./activity";

it("has whole weeks from a Sunday, and ends today", () => {
  const now = new Date("2026-11-18T07:00:00Z"); // a Wednesday
  const days = activityGrid([{ day: "2026-11-17", submissions: 5, accepted: 1 }], now);
  expect(days.at(-1)?.day).toBe("2026-11-18");
  expect(days.at(-2)).toEqual({ day: "2026-11-17", submissions: 5 });
  expect(new Date(`${days[0]?.day ?? ""}T00:00:00Z`).getUTCDay()).toBe(0);
  expect(days).toHaveLength(52 * 7 + 4);
});

it("shades days by the number of submissions", () => {
  expect([0, 1, 4, 50].map(level)).toEqual([0, 1, 2, 3]);
});

it("labels the week in which a month begins, where the label fits", () => {
  const labels = monthLabels(activityGrid([], new Date("2026-11-18T07:00:00Z")));
  expect(labels[0]).toEqual({ name: "Dec", week: 2 });
  expect(labels.at(-1)).toEqual({ name: "Nov", week: 50 });
  expect(labels).toHaveLength(12);
});
