/** A time as a bar with its confidence interval as a whisker, as wide as its place. */
import { runtime } from "../../lib/format";
import "./figures.css";

interface Props {
  value: number;
  ci: readonly [number, number] | null;
  /** The value at the right end; the same for all bars that are compared. */
  most: number;
  tone?: "first" | "second";
}

const HEIGHT = 18;

export function IntervalBar({ value, ci, most, tone = "first" }: Props) {
  const at = (ms: number): string => `${Math.min(100, (100 * ms) / (most * 1.02 || 1))}%`;
  const interval = ci === null ? "" : `, 95% interval ${runtime(ci[0])} to ${runtime(ci[1])}`;
  return (
    <svg
      className="interval-bar"
      width="100%"
      height={HEIGHT}
      role="img"
      aria-label={`${runtime(value)}${interval}`}
    >
      <rect className="fig-track" x="0" y="4" width="100%" height={HEIGHT - 8} rx="2" />
      <rect className={`fig-bar fig-${tone}`} x="0" y="4" width={at(value)} height={HEIGHT - 8} rx="2" />
      {ci !== null && (
        <g className="fig-whisker">
          <line x1={at(ci[0])} x2={at(ci[1])} y1={HEIGHT / 2} y2={HEIGHT / 2} />
          <line x1={at(ci[0])} x2={at(ci[0])} y1="1" y2={HEIGHT - 1} />
          <line x1={at(ci[1])} x2={at(ci[1])} y1="1" y2={HEIGHT - 1} />
        </g>
      )}
    </svg>
  );
}
