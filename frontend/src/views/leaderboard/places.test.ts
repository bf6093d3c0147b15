import { describe, expect, it } from "vitest";
import { places } from "./places";

const entry = (ms: number, spread = 0): { avg_runtime_ms: number; ci: [number, number] } => ({
  avg_runtime_ms: ms,
  ci: [ms - spread, ms + spread],
});

describe("places", () => {
  it("orders by time", () => {
    expect(places([entry(3), entry(1), entry(2)]).map((each) => each.entry.avg_runtime_ms)).toEqual([
      1, 2, 3,
    ]);
  });

  it("gives those whose intervals overlap one place, and leaves a gap after them", () => {
    const found = places([entry(1, 0.1), entry(1.1, 0.1), entry(5, 0.1)]);
    expect(found.map((each) => [each.place, each.tied])).toEqual([
      [1, true],
      [1, true],
      [3, false],
    ]);
  });

  it("does not make one tie of a chain", () => {
    const found = places([entry(1, 0.06), entry(1.1, 0.06), entry(1.2, 0.06)]);
    expect(found.map((each) => each.place)).toEqual([1, 1, 3]);
  });

  it("ties without intervals only what is equal", () => {
    const bare = [1, 1, 1.0001].map((ms) => ({ avg_runtime_ms: ms, ci: null }));
    expect(places(bare).map((each) => each.place)).toEqual([1, 1, 3]);
  });
});
