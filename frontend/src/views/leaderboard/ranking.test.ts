import { describe, expect, it } from "vitest";
import { rank } from "./ranking";

const entry = (ms: number, spread = 0): { avg_runtime_ms: number; ci: [number, number] } => ({
  avg_runtime_ms: ms,
  ci: [ms - spread, ms + spread],
});

describe("rank", () => {
  it("orders by time", () => {
    expect(rank([entry(3), entry(1), entry(2)]).map(({ entry: { avg_runtime_ms } }) => avg_runtime_ms)).toEqual([
      1, 2, 3,
    ]);
  });

  it("gives entries with overlapping intervals the same rank, and skips the next ranks", () => {
    const ranked = rank([entry(1, 0.1), entry(1.1, 0.1), entry(5, 0.1)]);
    expect(ranked.map((item) => [item.rank, item.tied])).toEqual([
      [1, true],
      [1, true],
      [3, false],
    ]);
  });

  it("does not merge a chain into one tie", () => {
    const ranked = rank([entry(1, 0.06), entry(1.1, 0.06), entry(1.2, 0.06)]);
    expect(ranked.map((item) => item.rank)).toEqual([1, 1, 3]);
  });

  it("ties entries without intervals only if they are equal", () => {
    const withoutIntervals = [1, 1, 1.0001].map((ms) => ({ avg_runtime_ms: ms, ci: null }));
    expect(rank(withoutIntervals).map((item) => item.rank)).toEqual([1, 1, 3]);
  });
});
