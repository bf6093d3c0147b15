import { describe, expect, it } from "vitest";
import { intervalText, medianText, timeText, timingInterval, timingNote, timingSummary } from "./timingText";

describe("timeText", () => {
  it("prints the interval in the same unit, with the digits that its width supports", () => {
    expect(timeText(0.98213, [0.9742, 0.9901])).toBe("982 µs (974 to 990)");
    expect(timeText(1.0003, [0.992, 1.0083])).toBe("1.000 ms (0.992 to 1.008)");
    expect(timeText(0.98, [0.7, 1.4])).toBe("0.98 ms (0.70 to 1.40)");
    expect(timeText(2000, [1500, 2500])).toBe("2.0 s (1.5 to 2.5)");
    expect(medianText(0.03081, [0.03056, 0.03106])).toBe("30.81 µs");
  });

  it("says that an interval is unknown, and never prints one of width 0", () => {
    expect(timeText(1.5, null)).toBe("1.50 ms (interval unknown)");
    expect(timeText(1.5, [1.5, 1.5])).toBe("1.50 ms (interval unknown)");
    expect(intervalText([1.5, 1.5])).toBe("unknown");
    expect(timeText(null, null)).toBe("–");
  });

  it("prints ends that differ, however narrow the interval is", () => {
    const [low, high] = intervalText([0.5, 0.50002]).split(" ").filter((word) => word !== "to");
    expect(Number(low)).toBeLessThan(Number(high));
  });
});

const WINDOW = { calls: 1, time_ms: 1, wall_ms: 1 };
const timing = {
  test_id: 1,
  name: "",
  runtime_ms: 0.0308,
  outer_ms: 0.0308,
  note: "",
  runs: [0.0308],
  gbps: 4350,
  windows: [WINDOW, WINDOW],
  ci: [0.03076, 0.03094] as [number, number],
};

describe("timingSummary", () => {
  it("prints every figure with its unit", () => {
    expect(timingSummary({ ...timing, gflops: 544, pct_of_floor: 82.14 }).replaceAll("\u00a0", " ")).toBe(
      "95%: 30.76 to 30.94 µs · 544 GFLOP/s · 4.35 TB/s · 82.1% of roofline · 1 pair of windows",
    );
  });

  it("allows line breaks only between figures", () => {
    expect(timingSummary({ ...timing, gflops: 544, pct_of_floor: null })).toContain(" · 544\u00a0GFLOP/s · ");
  });

  it("omits unknown figures", () => {
    expect(timingSummary({ ...timing, gflops: null, pct_of_floor: null }).split(" · ")).toHaveLength(3);
  });
});

describe("timingNote", () => {
  it("counts the windows that were left out", () => {
    expect(timingNote({ ...timing, gflops: null, discarded_windows: 1 })).toBe("1 of 2 windows were disturbed and left out");
    expect(timingNote({ ...timing, gflops: null })).toBe("");
  });

  it("keeps the note of an older result, whose interval is unknown", () => {
    const old = { ...timing, gflops: null, windows: [], note: "as it was" };
    expect(timingNote(old)).toBe("as it was");
    expect(timingInterval(old)).toBeNull();
  });
});
