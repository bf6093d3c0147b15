/** What each day came to, stacked by what the VMs did for it. */
import { dollars } from "../../lib/format";
import type { Meter } from "../../lib/types";
import { linear, roundTicks } from "./scales";
import { utcDay } from "./times";
import { useWidth } from "./useWidth";
import "./figures.css";
import "./lanes.css";

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
  const [place, width] = useWidth<HTMLDivElement>();
  const most = Math.max(...bars.map((bar) => bar.total), 0);
  const top = most === 0 ? 0.01 : most;
  const y = linear([0, top], [HEIGHT - BOTTOM, TOP]);
  const step = (width - LEFT) / Math.max(bars.length, 1);
  const every = Math.ceil(56 / step);
  const sum = bars.reduce((all, bar) => all + bar.total, 0);
  return (
    <div ref={place} className="figure">
      <svg width={width} height={HEIGHT} role="img" aria-label={`${dollars(sum)} in ${bars.length} days, at the most ${dollars(most)} in one`}>
        {roundTicks(0, top, 3).map((tick) => (
          <g key={tick}>
            <line className="fig-grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
            <text className="fig-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
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
                className={`lane-${meter.toLowerCase()}`}
                x={LEFT + index * step + step * 0.15}
                width={step * 0.7}
                y={y(to)}
                height={Math.max(0, y(from) - y(to))}
              >
                <title>{`${utcDay(bar.day)}, ${names[meter]}: ${dollars(bar.by[meter])}`}</title>
              </rect>
            ))}
            {(bars.length - 1 - index) % every === 0 && (
              <text className="fig-text" x={Math.min(LEFT + (index + 0.5) * step, width - 24)} y={HEIGHT - 8} textAnchor="middle">
                {utcDay(bar.day)}
              </text>
            )}
          </g>
        ))}
        <line className="fig-axis" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
      </svg>
    </div>
  );
}

/** The parts of a bar, one on top of the other; work at the bottom, where days are compared best. */
export function stacked(bar: DayBar, meters: readonly Meter[]): { meter: Meter; from: number; to: number }[] {
  let height = 0;
  return meters.map((meter) => {
    const from = height;
    height += bar.by[meter];
    return { meter, from, to: height };
  });
}
