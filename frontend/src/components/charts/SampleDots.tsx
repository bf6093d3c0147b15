/** Samples as dots in measurement order, with the median and its 95% confidence interval as a band. */
import { memo, useId } from "react";
import { plural } from "../../lib/format";
import { timeText, type Interval } from "../../lib/timingText";
import "./sampleDots.css";

interface Props {
  runs: readonly number[];
  medianMs: number;
  /** Null if unknown. */
  ci: Interval | null;
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
        {`${plural(runs.length, "sample")}, median and 95% interval ${timeText(medianMs, ci)}`}
      </title>
      <g className={animate ? "reveal" : ""}>
        {ci !== null && (
          <rect className="band" x={PAD} width={WIDTH - 2 * PAD} y={y(ci[1])} height={Math.max(1, y(ci[0]) - y(ci[1]))} />
        )}
        <line className="median" x1={PAD} x2={WIDTH - PAD} y1={y(medianMs)} y2={y(medianMs)} />
        <path className="dot" d={dots} />
      </g>
    </svg>
  );
});

/** The range of the axis. Outliers above the 97th percentile are drawn at the edge. */
function extent(runs: readonly number[], ci: Interval | null): { low: number; high: number } {
  const sorted = [...runs].sort((a, b) => a - b);
  const fastest = sorted[0] ?? 0;
  const p97 = sorted[Math.floor((sorted.length - 1) * 0.97)] ?? fastest;
  const low = Math.min(fastest, ci?.[0] ?? fastest);
  const high = Math.max(p97, ci?.[1] ?? p97);
  const margin = (high - low || high || 1) * 0.06;
  return { low: low - margin, high: high + margin };
}
