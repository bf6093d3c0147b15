/** A histogram of a case's samples, with the median and its confidence interval. */
import { runtime } from "../../lib/format";
import { timeText, type Interval } from "../../lib/timingText";
import { bins } from "./bins";
import { linear, roundTicks } from "./scales";
import { useWidth } from "./useWidth";
import "./charts.css";

interface Props {
  samples: readonly number[];
  median: number;
  /** Null if unknown. */
  ci: Interval | null;
  label: string;
}

const HEIGHT = 132;
const LEFT = 30;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 24;

export function Histogram({ samples, median, ci, label }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const bars = bins(samples);
  const low = Math.min(bars[0]?.from ?? median, ci?.[0] ?? median);
  const high = Math.max(bars.at(-1)?.to ?? median, ci?.[1] ?? median);
  const pad = (high - low || high * 0.01) * 0.02;
  const x = linear([low - pad, high + pad], [LEFT, width - RIGHT]);
  const maxCount = Math.max(1, ...bars.map((bar) => bar.count));
  const y = linear([0, maxCount], [HEIGHT - BOTTOM, TOP]);
  const ticks = roundTicks(low, high, Math.max(2, Math.floor(width / 110)));
  const summary = `${label}: ${samples.length} samples from ${runtime(low)} to ${runtime(high)}, median and 95% interval ${timeText(median, ci)}`;
  return (
    <div ref={container} className="chart">
      <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
        {ci !== null && (
          <rect
            className="chart-interval"
            x={x(ci[0])}
            y={TOP - 6}
            width={Math.max(1, x(ci[1]) - x(ci[0]))}
            height={HEIGHT - BOTTOM - TOP + 6}
          />
        )}
        {bars.map((bar) => (
          <rect
            key={bar.from}
            className="chart-bar"
            x={x(bar.from) + 0.5}
            y={y(bar.count)}
            width={Math.max(2, x(bar.to) - x(bar.from) - 1)}
            height={y(0) - y(bar.count)}
          >
            <title>{`${bar.count} of ${samples.length}: ${runtime(bar.from)} to ${runtime(bar.to)}`}</title>
          </rect>
        ))}
        <line className="chart-axis" x1={LEFT} x2={width - RIGHT} y1={y(0)} y2={y(0)} />
        <line className="chart-median" x1={x(median)} x2={x(median)} y1={TOP - 6} y2={y(0)} />
        <text className="chart-text" x={LEFT - 6} y={TOP + 4} textAnchor="end">
          {maxCount}
        </text>
        <text className="chart-text" x={LEFT - 6} y={y(0)} textAnchor="end">
          0
        </text>
        {ticks.map((tick) => (
          <text key={tick} className="chart-text" x={x(tick)} y={HEIGHT - 8} textAnchor="middle">
            {runtime(tick)}
          </text>
        ))}
      </svg>
    </div>
  );
}
