/** A log-log roofline chart: the attainable rate per arithmetic intensity, and a point per case. */
import { useMemo } from "react";
import { gflops, significant } from "../../lib/format";
import { Chart } from "./Chart";
import { powerText, type ChartSpec } from "./chartSpec";
import { attainable, ridge, type Ceilings, type Point } from "./rooflineModel";
import { extentOf, type Range } from "./scales";

interface Props {
  limits: Ceilings;
  points: readonly Point[];
}

/** The axes extend beyond the data by this factor, so that no point is on an edge. */
const MARGIN = 1.5;

export function Roofline({ limits, points }: Props): React.JSX.Element {
  const spec = useMemo(() => rooflineSpec(limits, points), [limits, points]);
  return <Chart spec={spec} />;
}

export function rooflineSpec(limits: Ceilings, points: readonly Point[]): ChartSpec {
  const peak = limits.flops_per_s / 1e9;
  const corner = ridge(limits);
  const xExtent = spread([corner, ...points.map((point) => point.intensity)]);
  const yExtent = spread([peak, attainable(limits, xExtent[0]), ...points.map((point) => point.gflops)]);
  const xs = [...new Set([xExtent[0] / 1e3, corner, xExtent[1] * 1e3, ...points.map((point) => point.intensity)])].sort((a, b) => a - b);
  const bandwidth = `${significant(limits.bandwidth_bytes_per_s / 1e12)} TB/s`;
  const numbered = (point: Point): string => `${point.test_id}. ${point.name}: ${gflops(point.gflops)} at ${significant(point.intensity)} FLOP/byte`;
  return {
    summary: `Roofline of ${limits.gpu}: peak ${gflops(peak)}, memory bandwidth ${bandwidth}. ${points.map(numbered).join("; ")}`,
    heightPx: 340,
    x: { kind: "log", label: "Arithmetic intensity (FLOP/byte)", extent: xExtent, format: powerText },
    y: { kind: "log", label: "Throughput (GFLOP/s)", extent: yExtent, format: powerText },
    xs,
    series: [
      { name: `Roof: ${bandwidth}, ${gflops(peak)}`, color: "var(--text)", mark: { kind: "line" }, values: xs.map((x) => attainable(limits, x)) },
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
      const roof = `at ${significant(x)} FLOP/byte, ${gflops(attainable(limits, x))} are attainable`;
      return [...here, roof].join("; ");
    },
    table: {
      columns: [
        { name: "case" },
        { name: "inputs" },
        { name: "flop_per_byte", format: significant },
        { name: "gflops", format: gflops },
        { name: "attainable_gflops", format: gflops },
      ],
      rows: points.map((point) => [point.test_id, point.name, point.intensity, point.gflops, attainable(limits, point.intensity)]),
    },
    fileName: `roofline-${limits.gpu}`,
  };
}

/** The range of the values with a margin on both sides. */
function spread(values: readonly number[]): Range {
  const [low, high] = extentOf(values.filter((value) => value > 0), [1, 10]);
  return [low / MARGIN, high * MARGIN];
}
