import { describe, expect, it } from "vitest";
import { axisView, compactText, csvOf, lowerBound, runtimeAxis, tickLabels, timeUnit, viewOf, zoomedBy, zoomText, type ChartSpec } from "./chartSpec";

const size = { width: 600, height: 150 };
const runs = Array.from({ length: 1000 }, (_, index) => 0.5 + 0.01 * Math.sin(index) + (index === 900 ? 1 : 0));

const samples: ChartSpec = {
  summary: "1,000 samples",
  heightPx: 150,
  x: { kind: "linear", label: "Sample", extent: [1, 1000], integer: true, format: String },
  y: runtimeAxis("Time", [0.49, 1.51]),
  fitY: true,
  xs: runs.map((_, index) => index + 1),
  series: [{ name: "Samples", color: "var(--text)", mark: { kind: "dots" }, values: runs }],
  readout: String,
  table: { columns: [{ name: "sample" }], rows: [] },
  fileName: "samples",
};

describe("the view of a chart", () => {
  it("has end ticks that contain the data, at every width", () => {
    for (let width = 200; width < 2500; width += 97) {
      const { x, y } = viewOf(samples, null, { width, height: 150 });
      expect(x.min).toBeLessThanOrEqual(1);
      expect(x.max).toBeGreaterThanOrEqual(1000);
      expect(y.min).toBeLessThanOrEqual(Math.min(...runs));
      expect(y.max).toBeGreaterThanOrEqual(Math.max(...runs));
      expect([x.ticks[0], x.ticks.at(-1), y.ticks[0], y.ticks.at(-1)]).toEqual([x.min, x.max, y.min, y.max]);
    }
  });

  it("fits the vertical axis to the part that a zoom shows", () => {
    const { x, y } = viewOf(samples, { x: [100, 200], y: null }, size);
    expect([x.min, x.max]).toEqual([100, 200]);
    expect(y.max).toBeLessThan(0.6);
    expect(y.max).toBeGreaterThanOrEqual(Math.max(...runs.slice(99, 200)));
  });

  it("shows the part that was selected in both directions", () => {
    const { y } = viewOf(samples, { x: [100, 200], y: [0.4, 1.6] }, size);
    expect(y.min).toBeLessThanOrEqual(0.4);
    expect(y.max).toBeGreaterThanOrEqual(1.6);
  });

  it("shows whole categories", () => {
    const axis = { kind: "category", label: "", extent: [0, 2], names: ["a", "b", "c"] } as const;
    const view = axisView(axis, axis.extent, 10);
    expect(view).toEqual({ min: -0.5, max: 2.5, ticks: [0, 1, 2] });
    expect(tickLabels(axis, view.ticks)).toEqual(["a", "b", "c"]);
    expect(axisView(axis, [0.8, 1.2], 10)).toEqual({ min: 0.5, max: 1.5, ticks: [1] });
  });
});

describe("zoom by keyboard", () => {
  it("keeps the position of the crosshair, and ends with the whole axis", () => {
    const zoomed = zoomedBy(samples, null, 2, 0.5);
    expect(zoomed?.x[0]).toBeCloseTo(250.75);
    expect(zoomed?.x[1]).toBeCloseTo(750.25);
    expect(zoomedBy(samples, zoomed, 0.5, 0.5)).toBeNull();
    expect(zoomedBy(samples, null, 0.5, 0.1)).toBeNull();
  });

  it("is described in words", () => {
    expect(zoomText(samples, { x: [100, 200], y: null }, 600)).toBe("Zoomed to 100 to 200, Sample");
  });

  it("has equal factors on a logarithmic axis", () => {
    const log: ChartSpec = { ...samples, x: { kind: "log", label: "", extent: [1, 10_000], format: String } };
    const zoomed = zoomedBy(log, null, 2, 0.5);
    expect(zoomed?.x[0]).toBeCloseTo(10);
    expect(zoomed?.x[1]).toBeCloseTo(1000);
  });
});

describe("CSV", () => {
  it("has a header and a line per row", () => {
    const columns = [{ name: "case" }, { name: "time_ms", format: (ms: number) => `${ms} ms` }];
    expect(csvOf({ columns, rows: [["n = 4", 0.25], ["n = 8", null]] })).toBe("case,time_ms\r\nn = 4,0.25\r\nn = 8,\r\n");
  });

  it("quotes separators, and no text becomes a formula", () => {
    const rows = [["a,b", 'say "yes"', "two\nlines", "=1+1", "@x", -1, Number.NaN]];
    expect(csvOf({ columns: [], rows })).toBe(`\r\n"a,b","say ""yes""","two\nlines",'=1+1,'@x,-1,\r\n`);
  });
});

it("the unit of an axis fits its largest time", () => {
  expect([2e-4, 0.02, 3, 4000].map((ms) => timeUnit(ms).unit)).toEqual(["ns", "µs", "ms", "s"]);
  const axis = runtimeAxis("Time", [0.13, 0.19]);
  expect(axis.label).toBe("Time (µs)");
  expect(tickLabels(axis, [0.12, 0.14, 0.16])).toEqual(["120", "140", "160"]);
});

it("large ticks of a logarithmic axis have a prefix", () => {
  expect([0.01, 1, 500, 2000, 50000, 1e6, 2e7, 5e9].map(compactText)).toEqual(["0.01", "1", "500", "2k", "50k", "1M", "20M", "5G"]);
});

it("the lower bound is the first index that is not smaller", () => {
  expect([0, 1, 2, 9].map((value) => lowerBound([1, 2, 2, 5], value))).toEqual([0, 0, 1, 4]);
  expect(lowerBound([1, 2, 2, 5], 2, true)).toBe(3);
});
