/** A time as a bar with its confidence interval as a whisker; as wide as its container. */
import { timeText, type Interval } from "../../lib/timingText";
import "./charts.css";

interface Props {
  value: number;
  ci: Interval | null;
  /** The value at the right end; equal for all bars of a comparison. */
  max: number;
  tone?: "first" | "second";
}

const HEIGHT = 18;

export function IntervalBar({ value, ci, max, tone = "first" }: Props) {
  const position = (ms: number): string => `${Math.min(100, (100 * ms) / (max * 1.02 || 1))}%`;
  return (
    <svg
      className="interval-bar"
      width="100%"
      height={HEIGHT}
      role="img"
      aria-label={`Time and 95% interval ${timeText(value, ci)}`}
    >
      <rect className="chart-track" x="0" y="4" width="100%" height={HEIGHT - 8} rx="2" />
      <rect className={`chart-bar chart-${tone}`} x="0" y="4" width={position(value)} height={HEIGHT - 8} rx="2" />
      {ci !== null && (
        <g className="chart-whisker">
          <line x1={position(ci[0])} x2={position(ci[1])} y1={HEIGHT / 2} y2={HEIGHT / 2} />
          <line x1={position(ci[0])} x2={position(ci[0])} y1="1" y2={HEIGHT - 1} />
          <line x1={position(ci[1])} x2={position(ci[1])} y1="1" y2={HEIGHT - 1} />
        </g>
      )}
    </svg>
  );
}
