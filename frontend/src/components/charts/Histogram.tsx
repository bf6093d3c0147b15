/** A histogram of a case's samples, with the median and its confidence interval. */
import { useMemo } from "react";
import { count, runtime } from "../../lib/format";
import { timeText, type Interval } from "../../lib/timingText";
import { bins } from "./bins";
import { Chart } from "./Chart";
import { countAxis, runtimeAxis, type ChartSpec } from "./chartSpec";
import { extentOf } from "./scales";
import { intervalSeries, medianSeries } from "./timingSeries";

interface Props {
  samples: readonly number[];
  median: number;
  /** Null if unknown. */
  ci: Interval | null;
  label: string;
}

export function Histogram({ samples, median, ci, label }: Props): React.JSX.Element {
  const spec = useMemo(() => histogramSpec(samples, median, ci, label), [samples, median, ci, label]);
  return <Chart spec={spec} />;
}

export function histogramSpec(samples: readonly number[], median: number, ci: Interval | null, label: string): ChartSpec {
  const bars = bins(samples);
  const [low, high] = extentOf([median, ...(ci ?? []), bars[0]?.from, bars.at(-1)?.to]);
  const xs = bars.map(({ from, to }) => (from + to) / 2);
  const none = xs.map(() => null);
  return {
    summary: `${label}: ${samples.length} samples from ${runtime(low)} to ${runtime(high)}, median and 95% interval ${timeText(median, ci)}`,
    heightPx: 190,
    x: runtimeAxis("Time", [low, high]),
    y: countAxis("Samples", [0, Math.max(1, ...bars.map((bar) => bar.count))]),
    fitY: true,
    xs,
    series: [
      // First, so that the bars cover the band and keep their color.
      ...(ci === null ? [] : [intervalSeries({ x0: ci[0], x1: ci[1], y0: null, y1: null }, none)]),
      {
        name: "Samples",
        color: "color-mix(in srgb, var(--accent) 55%, var(--surface))",
        mark: { kind: "boxes", boxes: bars.map((bar) => ({ x0: bar.from, x1: bar.to, y0: 0, y1: bar.count })), gapPx: 1 },
        values: bars.map((bar) => bar.count),
      },
      medianSeries({ x0: median, x1: median, y0: null, y1: null }, none),
    ],
    readout: (index) => {
      const bar = bars[index];
      return bar === undefined ? "" : `${runtime(bar.from)} to ${runtime(bar.to)}: ${count(bar.count)} of ${count(samples.length)}`;
    },
    table: {
      columns: [{ name: "from_ms", format: runtime }, { name: "to_ms", format: runtime }, { name: "samples" }],
      rows: bars.map((bar) => [bar.from, bar.to, bar.count]),
    },
    fileName: `distribution of ${label}`,
  };
}
