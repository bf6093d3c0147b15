/** One bar per VM over time: provisioning, work and idle, by colour and by height. */
import { memo } from "react";
import { span } from "../../lib/format";
import type { VmTimelineResponse, TimelineSegmentResponse, Meter } from "../../lib/generated";
import { linear, type Scale } from "./scales";
import { clock, tickLabel, timeTicks } from "./timeAxis";
import { useWidth } from "./useWidth";
import "./charts.css";
import "./meters.css";

interface Props {
  lanes: readonly VmTimelineResponse[];
  /** In ms, by the service's clock. */
  from: number;
  to: number;
  names: Record<Meter, string>;
}

const ROW = 26;
const BAR = 16;
const AXIS = 22;
const NARROW = 480;

/** Memoized: a busy day has thousands of intervals. */
export const VmTimeline = memo(function VmTimeline({ lanes, from, to, names }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const left = width < NARROW ? 0 : 112;
  const row = left === 0 ? ROW + 16 : ROW;
  const x = linear([from, to], [left, width - 1]);
  const height = lanes.length * row;
  const ticks = timeTicks(from, to, Math.max(2, Math.floor((width - left) / 64)));
  const label = `Activity of ${lanes.length === 1 ? "1 VM" : `${lanes.length} VMs`} from ${clock(from)} to ${clock(to)}; totals are in the table below`;
  return (
    <div ref={container} className="chart">
      <svg width={width} height={height + AXIS} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <line key={tick} className="chart-grid" x1={x(tick)} x2={x(tick)} y1={0} y2={height + 4} />
        ))}
        {lanes.map((lane, index) => {
          const top = index * row + (row - BAR - 4);
          return (
            <g key={lane.vm_id}>
              <text
                className="chart-text"
                x={left === 0 ? 0 : left - 8}
                y={left === 0 ? top - 5 : top + 12}
                textAnchor={left === 0 ? "start" : "end"}
              >
                {shortId(lane.vm_id)}
              </text>
              <line className="chart-grid" x1={left} x2={width} y1={top + BAR + 0.5} y2={top + BAR + 0.5} />
              {lane.pieces.map((interval) => (
                <Interval key={interval.started_at} interval={interval} x={x} to={to} top={top} names={names} />
              ))}
            </g>
          );
        })}
        {ticks.map((tick) => (
          <text key={tick} className="chart-text" x={x(tick)} y={height + AXIS - 4} textAnchor={anchor(x(tick), left, width)}>
            {tickLabel(tick, to - from)}
          </text>
        ))}
      </svg>
    </div>
  );
});

/** Relative bar heights, so that the meters can be distinguished without colour. */
const HEIGHT: Record<Meter, number> = { PROVISIONING: 0.65, WORK: 1, IDLE: 0.3 };

interface IntervalProps {
  interval: TimelineSegmentResponse;
  x: Scale;
  to: number;
  top: number;
  names: Record<Meter, string>;
}

function Interval({ interval, x, to, top, names }: IntervalProps): React.JSX.Element {
  const start = Date.parse(interval.started_at);
  const end = interval.open ? Math.max(to, start) : Date.parse(interval.ended_at);
  const height = BAR * HEIGHT[interval.meter];
  // A second of work is invisible on the scale of a day, so work has a minimum width.
  const width = Math.max(interval.meter === "WORK" ? 1.5 : 0.5, x(end) - x(start));
  return (
    <rect className={`meter-${interval.meter.toLowerCase()}`} x={x(start)} y={top + BAR - height} width={width} height={height}>
      <title>{`${names[interval.meter]} ${clock(start)} to ${interval.open ? "now" : clock(end)}, ${span((end - start) / 1000)}`}</title>
    </rect>
  );
}

/** Shorten an id to its end, which distinguishes it. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 3)}…${id.slice(-8)}`;
}

function anchor(position: number, left: number, right: number): "start" | "middle" | "end" {
  if (position - left < 18) return "start";
  return right - position < 18 ? "end" : "middle";
}
