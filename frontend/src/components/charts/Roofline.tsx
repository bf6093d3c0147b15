/** A log-log roofline chart: the attainable rate per arithmetic intensity, and a point per case. */
import { useMemo } from "react";
import { gflops, percent, significant } from "../../lib/format";
import { Chart } from "./Chart";
import { compactText, type ChartSpec, type Series } from "./chartSpec";
import { attainable, ridge, type Ceilings, type Point, type Roof } from "./rooflineModel";
import { extentOf, type Range } from "./scales";

interface Props {
  limits: Ceilings;
  /** Roofs that bound only a part of a kernel. */
  roofs: readonly Roof[];
  points: readonly Point[];
}

/** The axes extend beyond the data by this factor, so that no point is on an edge. */
const MARGIN = 1.5;
/** The arithmetic roofs extend to the right of the ridge point by this factor. */
const ROOM_FOR_NAMES = 8;

export function Roofline({ limits, roofs, points }: Props): React.JSX.Element {
  const spec = useMemo(() => rooflineSpec(limits, roofs, points), [limits, roofs, points]);
  return <Chart spec={spec} />;
}

export function rooflineSpec(limits: Ceilings, roofs: readonly Roof[], points: readonly Point[]): ChartSpec {
  const peak = limits.flops_per_s / 1e9;
  const highest = Math.max(peak, ...roofs.filter(({ kind }) => kind === "arithmetic").map(({ rate }) => rate / 1e9));
  const fastest = Math.max(limits.bandwidth_bytes_per_s, ...roofs.filter(({ kind }) => kind === "memory").map(({ rate }) => rate)) / 1e9;
  const corner = ridge(limits);
  const intensities = points.map((point) => point.intensity);
  const xExtent = spread([corner * ROOM_FOR_NAMES, ...intensities]);
  const yExtent = spread([highest, attainable(limits, xExtent[0]), ...points.map((point) => point.gflops)]);
  // Where a roof starts or ends: slopes at the highest arithmetic roof, horizontal lines at the fastest memory.
  const ends = roofs.map(({ kind, rate }) => (kind === "memory" ? (highest * 1e9) / rate : rate / 1e9 / fastest));
  const xs = [...new Set([xExtent[0] / 1e3, corner, xExtent[1] * 1e3, ...intensities, ...ends])].sort((a, b) => a - b);
  const bandwidth = bandwidthText(limits.bandwidth_bytes_per_s);
  const numbered = (point: Point): string =>
    `${point.test_id}. ${point.name}: ${gflops(point.gflops)} at ${significant(point.intensity)} FLOP/byte, ${percent((100 * point.gflops) / attainable(limits, point.intensity))} of the roof`;
  return {
    summary: `Roofline of ${limits.gpu}: peak ${gflops(peak)}, memory bandwidth ${bandwidth}. ${points.map(numbered).join("; ")}`,
    heightPx: 380,
    x: { kind: "log", label: "Arithmetic intensity (FLOP/byte)", extent: xExtent, format: compactText },
    y: { kind: "log", label: "Throughput (GFLOP/s)", extent: yExtent, format: compactText },
    xs,
    series: [
      ...roofs.map((roof) => roofSeries(roof, xs, highest, fastest)),
      { name: `Roof: memory ${bandwidth}, ${gflops(peak)}`, color: "var(--text)", mark: { kind: "line", width: 2.5 }, values: xs.map((x) => attainable(limits, x)) },
      {
        name: "Cases",
        color: "var(--accent)",
        mark: { kind: "labels", labels: points.map((point) => ({ x: point.intensity, y: point.gflops, text: String(point.test_id) })) },
        values: xs.map((x) => points.find((point) => point.intensity === x)?.gflops ?? null),
      },
    ],
    readout: (index) => {
      const x = xs[index] ?? 0;
      const here = points.filter((point) => point.intensity === x).map(numbered);
      return [...here, `at ${significant(x)} FLOP/byte, ${gflops(attainable(limits, x))} are attainable`].join("; ");
    },
    table: {
      columns: [
        { name: "case" },
        { name: "inputs" },
        { name: "flop_per_byte", format: significant },
        { name: "gflops", format: gflops },
        { name: "attainable_gflops", format: gflops },
        { name: "percent_of_attainable", format: percent },
      ],
      rows: points.map((point) => {
        const roof = attainable(limits, point.intensity);
        return [point.test_id, point.name, point.intensity, point.gflops, roof, (100 * point.gflops) / roof];
      }),
    },
    fileName: `roofline-${limits.gpu}`,
  };
}

/** A slope up to the highest arithmetic roof, or a horizontal line from the slope of the fastest memory on. */
function roofSeries({ name, rate, kind }: Roof, xs: readonly number[], highest: number, fastest: number): Series {
  const gigas = rate / 1e9;
  const within = (x: number): boolean => (kind === "memory" ? gigas * x <= highest * (1 + 1e-9) : fastest * x >= gigas * (1 - 1e-9));
  const text = kind === "memory" ? `${name} ${bandwidthText(rate)}` : `${name} ${gflops(gigas)}`;
  return {
    name: text,
    color: kind === "memory" ? "var(--info)" : "var(--good)",
    mark: { kind: "line", width: 1, dash: kind === "memory" ? [6, 3] : [2, 3], label: text },
    values: xs.map((x) => (within(x) ? (kind === "memory" ? gigas * x : gigas) : null)),
  };
}

function bandwidthText(bytesPerS: number): string {
  return `${significant(bytesPerS / 1e12)} TB/s`;
}

/** The range of the values with a margin on both sides. */
function spread(values: readonly number[]): Range {
  const [low, high] = extentOf(values.filter((value) => value > 0), [1, 10]);
  return [low / MARGIN, high * MARGIN];
}
