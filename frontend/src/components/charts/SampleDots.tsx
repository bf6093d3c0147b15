/** Samples as dots in measurement order, with the median and its 95% confidence interval as a band. */
import { memo, useMemo } from "react";
import { plural, runtime } from "../../lib/format";
import { timeText, type Interval } from "../../lib/timingText";
import { Chart } from "./Chart";
import { countAxis, runtimeAxis, type ChartSpec } from "./chartSpec";
import { extentOf } from "./scales";
import { intervalSeries, medianSeries } from "./timingSeries";

interface Props {
  runs: readonly number[];
  medianMs: number;
  /** Null if unknown. */
  ci: Interval | null;
  /** The name of the case. */
  name: string;
  /** Reveal the dots one after the other. */
  animate?: boolean;
}

/** Memoized: the timeline around it renders four times per second. */
export const SampleDots = memo(function SampleDots({ runs, medianMs, ci, name, animate = false }: Props): React.JSX.Element {
  const [low, high] = ci ?? [null, null];
  const spec = useMemo(() => samplesSpec(runs, medianMs, low === null ? null : [low, high], name), [runs, medianMs, low, high, name]);
  return <Chart spec={spec} animate={animate} />;
});

export function samplesSpec(runs: readonly number[], medianMs: number, ci: Interval | null, name: string): ChartSpec {
  const xs = runs.map((_, index) => index + 1);
  const none = xs.map(() => null);
  return {
    summary: `${plural(runs.length, "sample")}, median and 95% interval ${timeText(medianMs, ci)}`,
    heightPx: 150,
    x: countAxis("Sample", [1, Math.max(2, runs.length)]),
    y: runtimeAxis("Time", extentOf([medianMs, ...(ci ?? []), ...extentOf(runs, [medianMs, medianMs])])),
    fitY: true,
    xs,
    series: [
      ...(ci === null ? [] : [intervalSeries({ x0: null, x1: null, y0: ci[0], y1: ci[1] }, none)]),
      medianSeries({ x0: null, x1: null, y0: medianMs, y1: medianMs }, none),
      { name: "Samples", color: "var(--accent)", mark: { kind: "dots" }, values: runs },
    ],
    readout: (index) => `Sample ${index + 1}: ${runtime(runs[index])}`,
    table: { columns: [{ name: "sample" }, { name: "time_ms", format: runtime }], rows: runs.map((ms, index) => [index + 1, ms]) },
    fileName: `samples of ${name}`,
  };
}
