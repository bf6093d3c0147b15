/** Cost per day, stacked by meter. */
import { dollars } from "../../lib/format";
import type { Meter } from "../../lib/generated";
import { linear, roundTicks } from "./scales";
import { utcDay } from "./timeAxis";
import { useWidth } from "./useWidth";
import "./charts.css";
import "./meters.css";

export interface DayBar {
  day: string;
  total: number;
  by: Record<Meter, number>;
}

interface Props {
  bars: readonly DayBar[];
  meters: readonly Meter[];
  names: Record<Meter, string>;
}

const HEIGHT = 240;
const LEFT = 62;
const TOP = 14;
const BOTTOM = 24;

export function DayBars({ bars, meters, names }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const maximum = Math.max(...bars.map((bar) => bar.total), 0);
  const top = maximum === 0 ? 0.01 : maximum;
  const y = linear([0, top], [HEIGHT - BOTTOM, TOP]);
  const step = (width - LEFT) / Math.max(bars.length, 1);
  const every = Math.ceil(56 / step);
  const sum = bars.reduce((total, bar) => total + bar.total, 0);
  return (
    <div ref={container} className="chart">
      <svg width={width} height={HEIGHT} role="img" aria-label={`${dollars(sum)} in ${bars.length} days, at most ${dollars(maximum)} per day`}>
        {roundTicks(0, top, 3).map((tick) => (
          <g key={tick}>
            <line className="chart-grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text className="chart-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {tick === 0 ? "$0" : dollars(tick)}
            </text>
          </g>
        ))}
        {bars.map((bar, index) => (
          <g key={bar.day}>
            <title>{`${utcDay(bar.day)}: ${dollars(bar.total)}`}</title>
            {stacked(bar, meters).map(({ meter, from, to }) => (
              <rect
                key={meter}
                className={`meter-${meter.toLowerCase()}`}
                x={LEFT + index * step + step * 0.15}
                width={step * 0.7}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
              >
                <title>{`${utcDay(bar.day)}, ${names[meter]}: ${dollars(bar.by[meter])}`}</title>
              </rect>
            ))}
            {(bars.length - 1 - index) % every === 0 && (
              <text className="chart-text" x={Math.min(LEFT + (index + 0.5) * step, width - 24)} y={HEIGHT - 8} textAnchor="middle">
                {utcDay(bar.day)}
              </text>
            )}
          </g>
        ))}
        <line className="chart-axis" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
      </svg>
    </div>
  );
}

/** Stack the meters of a bar in the given order. */
export function stacked(bar: DayBar, meters: readonly Meter[]): { meter: Meter; from: number; to: number }[] {
  let height = 0;
  return meters.map((meter) => {
    const from = height;
    height += bar.by[meter];
    return { meter, from, to: height };
  });
}
