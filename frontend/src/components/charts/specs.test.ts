/** Every chart: its end ticks contain its data, and its table has its values. */
import { describe, expect, it } from "vitest";
import type { Meter } from "../../lib/generated";
import { burnDownSpec } from "./BurnDown";
import { viewOf, type ChartSpec } from "./chartSpec";
import { dayBarsSpec } from "./DayBars";
import { histogramSpec } from "./Histogram";
import { rooflineSpec } from "./Roofline";
import { samplesSpec } from "./SampleDots";
import { timelineSpec } from "./VmTimeline";

const NAMES: Record<Meter, string> = { PROVISIONING: "Provisioning", WORK: "Work", IDLE: "Idle" };
const HOUR = 3_600_000;
const AT = Date.parse("2026-01-31T12:34:56Z");
const runs = Array.from({ length: 57 }, (_, index) => 0.982 + 0.013 * Math.sin(index * index));

const piece = (meter: Meter, start: number, end: number, open = false) => ({
  meter,
  started_at: new Date(start).toISOString(),
  ended_at: new Date(end).toISOString(),
  open,
  submission_id: null,
});

const charts: Record<string, ChartSpec | null> = {
  samples: samplesSpec(runs, 0.982, [0.974, 0.99], "n = 4"),
  "one sample": samplesSpec([0.5], 0.5, null, "n = 4"),
  "no sample": samplesSpec([], 0.5, null, "n = 4"),
  distribution: histogramSpec(runs, 0.982, [0.9, 1.1], "n = 4"),
  "cost by day": dayBarsSpec([{ day: "2026-01-31", total: 1.234, by: { PROVISIONING: 0.2, WORK: 1, IDLE: 0.034 } }], ["WORK", "IDLE", "PROVISIONING"], NAMES),
  "burn-down": burnDownSpec([{ at: AT - HOUR, usd: 150.01 }, { at: AT, usd: 149.3 }], 150, 30, null),
  roofline: rooflineSpec(
    { gpu: "MI300X", bandwidth_bytes_per_s: 5.3e12, flops_per_s: 163.4e12 },
    [
      { name: "LDS", rate: 81.7e12, kind: "memory" },
      { name: "Matrix fp8", rate: 2614.9e12, kind: "arithmetic" },
    ],
    [{ test_id: 1, name: "n = 4", intensity: 0.01, gflops: 3, gbps: 300, runtime_ms: 1 }],
  ),
  timeline: timelineSpec(
    [{ vm_id: "vm_1", gpu_type: "MI300X", state: "BUSY", simulated: false, pieces: [piece("PROVISIONING", AT - HOUR, AT - HOUR / 2), piece("WORK", AT - HOUR / 2, AT, true)] }],
    AT - 3 * HOUR,
    AT,
    NAMES,
  ),
};

describe.each(Object.entries(charts))("%s", (_, spec) => {
  if (spec === null) throw new Error("no chart");

  it("has end ticks that contain its extent", () => {
    for (const width of [200, 390, 700, 1440, 2500]) {
      const { x, y } = viewOf(spec, null, { width, height: spec.heightPx });
      expect(x.min).toBeLessThanOrEqual(spec.x.extent[0]);
      expect(x.max).toBeGreaterThanOrEqual(spec.x.extent[1]);
      expect(y.min).toBeLessThanOrEqual(spec.y.extent[0]);
      expect(y.max).toBeGreaterThanOrEqual(spec.y.extent[1]);
    }
  });

  it("has values and boxes within its extent", () => {
    const [low, high] = spec.y.extent;
    for (const { mark, values } of spec.series) {
      if (spec.y.kind === "log" && mark.kind === "line") continue; // roofs extend to the edges, and are cut there
      const shown = values.filter((value) => value !== null);
      if (mark.kind === "boxes" && spec.y.kind !== "category") {
        shown.push(...mark.boxes.flatMap(({ y0, y1 }) => [y0, y1]).filter((value) => value !== null));
      }
      for (const value of shown) {
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high + 1e-9);
      }
    }
  });

  it("has one value per position, and a row of the table per column", () => {
    for (const { values } of spec.series) expect(values.length).toBe(spec.xs.length);
    for (const row of spec.table.rows) expect(row.length).toBe(spec.table.columns.length);
    spec.xs.forEach((_, index) => expect(spec.readout(index)).not.toBe(""));
  });
});

it("an interval that has not ended continues until now", () => {
  const work = charts.timeline?.series.find(({ name }) => name === "Work");
  expect(work?.mark.kind === "boxes" && work.mark.boxes[0]?.x1).toBe(AT);
});
