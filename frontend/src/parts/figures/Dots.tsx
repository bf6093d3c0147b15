/** Samples as dots in the order taken, with the interval of the median closing in around them. */
import { memo, useId } from "react";
import { plural, runtime } from "../../lib/format";
import { funnel, type Band } from "./funnel";
import "./dots.css";

interface Props {
  runs: readonly number[];
  medianMs: number;
  ci: readonly [number, number];
  /** Let them appear one after the other, as they were taken. */
  fresh?: boolean;
}

const WIDTH = 320;
const HEIGHT = 56;
const PAD = 4;

/** Drawn again only for other samples: the timeline around it ticks four times a second. */
export const Dots = memo(function Dots({ runs, medianMs, ci, fresh = false }: Props): React.JSX.Element {
  const title = useId();
  const { low, high } = extent(runs, ci);
  const x = (at: number): number => PAD + ((WIDTH - 2 * PAD) * (at + 0.5)) / Math.max(runs.length, 1);
  const y = (ms: number): number => {
    const kept = Math.min(high, Math.max(low, ms));
    return PAD + (HEIGHT - 2 * PAD) * (1 - (kept - low) / (high - low || 1));
  };
  // One path for all dots: two thousand elements would cost more than the picture is worth.
  const dots = runs.map((ms, at) => `M${x(at).toFixed(1)} ${y(ms).toFixed(1)}h0`).join("");
  return (
    <svg className="dots" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={title} preserveAspectRatio="none">
      <title id={title}>
        {`${plural(runs.length, "sample")}, median ${runtime(medianMs)}, 95% interval ${runtime(ci[0])} to ${runtime(ci[1])}`}
      </title>
      <g className={fresh ? "reveal" : ""}>
        <path className="band" d={bandPath(funnel(runs), x, y)} />
        <line className="median" x1={PAD} x2={WIDTH - PAD} y1={y(medianMs)} y2={y(medianMs)} />
        <path className="dot" d={dots} />
      </g>
    </svg>
  );
});

/** Room for nearly all of them; a stray far above is drawn at the edge. */
function extent(runs: readonly number[], ci: readonly [number, number]): { low: number; high: number } {
  const sorted = [...runs].sort((a, b) => a - b);
  const most = sorted[Math.floor((sorted.length - 1) * 0.97)] ?? ci[1];
  const low = Math.min(sorted[0] ?? ci[0], ci[0]);
  const high = Math.max(most, ci[1]);
  const room = (high - low || high || 1) * 0.06;
  return { low: low - room, high: high + room };
}

function bandPath(bands: readonly Band[], x: (at: number) => number, y: (ms: number) => number): string {
  if (bands.length < 2) return "";
  const upper = bands.map(({ at, high }) => `${x(at).toFixed(1)} ${y(high).toFixed(1)}`);
  const lower = [...bands].reverse().map(({ at, low }) => `${x(at).toFixed(1)} ${y(low).toFixed(1)}`);
  return `M${[...upper, ...lower].join("L")}Z`;
}
