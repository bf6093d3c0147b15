/** Samples as dots in measurement order, with the narrowing confidence interval of the median. */
import { memo, useId } from "react";
import { plural, runtime } from "../../lib/format";
import { medianIntervals, type MedianInterval } from "./medianIntervals";
import "./sampleDots.css";

interface Props {
  runs: readonly number[];
  medianMs: number;
  ci: readonly [number, number];
  /** Reveal the dots one after the other. */
  animate?: boolean;
}

const WIDTH = 320;
const HEIGHT = 56;
const PAD = 4;

/** Memoized: the timeline around it renders four times per second. */
export const SampleDots = memo(function SampleDots({ runs, medianMs, ci, animate = false }: Props): React.JSX.Element {
  const title = useId();
  const { low, high } = extent(runs, ci);
  const x = (index: number): number => PAD + ((WIDTH - 2 * PAD) * (index + 0.5)) / Math.max(runs.length, 1);
  const y = (ms: number): number => {
    const clamped = Math.min(high, Math.max(low, ms));
    return PAD + (HEIGHT - 2 * PAD) * (1 - (clamped - low) / (high - low || 1));
  };
  // One path for all dots: two thousand elements would be slow to render.
  const dots = runs.map((ms, index) => `M${x(index).toFixed(1)} ${y(ms).toFixed(1)}h0`).join("");
  return (
    <svg className="sample-dots" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={title} preserveAspectRatio="none">
      <title id={title}>
        {`${plural(runs.length, "sample")}, median ${runtime(medianMs)}, 95% interval ${runtime(ci[0])} to ${runtime(ci[1])}`}
      </title>
      <g className={animate ? "reveal" : ""}>
        <path className="band" d={bandPath(medianIntervals(runs), x, y)} />
        <line className="median" x1={PAD} x2={WIDTH - PAD} y1={y(medianMs)} y2={y(medianMs)} />
        <path className="dot" d={dots} />
      </g>
    </svg>
  );
});

/** The range of the axis. Outliers above the 97th percentile are drawn at the edge. */
function extent(runs: readonly number[], ci: readonly [number, number]): { low: number; high: number } {
  const sorted = [...runs].sort((a, b) => a - b);
  const p97 = sorted[Math.floor((sorted.length - 1) * 0.97)] ?? ci[1];
  const low = Math.min(sorted[0] ?? ci[0], ci[0]);
  const high = Math.max(p97, ci[1]);
  const margin = (high - low || high || 1) * 0.06;
  return { low: low - margin, high: high + margin };
}

function bandPath(intervals: readonly MedianInterval[], x: (index: number) => number, y: (ms: number) => number): string {
  if (intervals.length < 2) return "";
  const upper = intervals.map(({ index, high }) => `${x(index).toFixed(1)} ${y(high).toFixed(1)}`);
  const lower = [...intervals].reverse().map(({ index, low }) => `${x(index).toFixed(1)} ${y(low).toFixed(1)}`);
  return `M${[...upper, ...lower].join("L")}Z`;
}
