/** Remaining credits over time, the forecast, and the alert threshold. */
import { dollars } from "../../lib/format";
import { linear, roundTicks } from "./scales";
import { day, tickLabel, timeTicks } from "./timeAxis";
import { useWidth } from "./useWidth";
import "./charts.css";
import "./meters.css";

export interface Point {
  at: number;
  usd: number;
}

/** When the credits will run out: the most likely time and a 90% interval. */
export interface RunOut {
  earliest: number;
  likely: number;
  latest: number;
}

interface Props {
  points: readonly Point[];
  credits: number;
  alertAt: number;
  runOut: RunOut | null;
}

const HEIGHT = 200;
const LEFT = 62;
const RIGHT = 12;
const TOP = 16;
const BOTTOM = 24;
const DAY_MS = 86_400_000;

export function BurnDown({ points, credits, alertAt, runOut }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const last = points.at(-1);
  if (last === undefined) return null;
  const [from, to] = timeRange(points, runOut);
  const x = linear([from, to], [LEFT, width - RIGHT]);
  const y = linear([0, credits || 1], [HEIGHT - BOTTOM, TOP]);
  const ticks = timeTicks(from, to, Math.max(2, Math.floor((width - LEFT) / 60)));
  const line = (path: readonly Point[]): string => path.map(({ at, usd }) => `${x(at).toFixed(1)} ${y(usd).toFixed(1)}`).join("L");
  return (
    <div ref={container} className="chart">
      <svg width={width} height={HEIGHT} role="img" aria-label={description(points, credits, alertAt, runOut)}>
        {roundTicks(0, credits, 4).map((tick) => (
          <g key={tick}>
            <line className="chart-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="chart-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {axisDollars(tick)}
            </text>
          </g>
        ))}
        <path className="burn-area" d={`M${x(points[0]?.at ?? from)} ${y(0)}L${line(points)}L${x(last.at)} ${y(0)}Z`} />
        {runOut !== null && <path className="burn-band" d={`M${line(forecastBand(last, runOut, to))}Z`} />}
        <line className="burn-alert" x1={LEFT} x2={width - RIGHT} y1={y(alertAt)} y2={y(alertAt)} />
        <text className="chart-text burn-alert-name" x={width - RIGHT} y={y(alertAt) - 5} textAnchor="end">
          Alert at {dollars(alertAt)}
        </text>
        <path className="burn-line" d={`M${line(points)}`} />
        {runOut !== null && <path className="burn-forecast" d={`M${line(declineLine(last, runOut.likely, to))}`} />}
        <circle className="burn-now" cx={x(last.at)} cy={y(last.usd)} r="4" />
        <line className="chart-axis" x1={LEFT} x2={width - RIGHT} y1={y(0)} y2={y(0)} />
        {ticks.map((tick) => (
          <text key={tick} className="chart-text" x={x(tick)} y={HEIGHT - 8} textAnchor={x(tick) > width - 30 ? "end" : "middle"}>
            {tickLabel(tick, to - from)}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** The time range of the axis: as far into the future as into the past, at least a day, at most until the latest run-out. */
export function timeRange(points: readonly Point[], runOut: RunOut | null): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const first = Math.min(points[0]?.at ?? last, last - DAY_MS);
  if (runOut === null) return [first, last + (last - first) * 0.02];
  return [first, Math.min(Math.max(runOut.latest, last + DAY_MS), last + Math.max(DAY_MS, last - first))];
}

/** A straight line from the current credits to zero, clipped at `to`. */
export function declineLine(now: Point, emptyAt: number, to: number): Point[] {
  if (emptyAt <= now.at) return [now, { at: now.at, usd: 0 }];
  if (emptyAt <= to) return [now, { at: emptyAt, usd: 0 }];
  return [now, { at: to, usd: now.usd * (1 - (to - now.at) / (emptyAt - now.at)) }];
}

/** The area between the earliest and the latest run-out. */
export function forecastBand(now: Point, runOut: RunOut, to: number): Point[] {
  const lower = declineLine(now, runOut.earliest, to);
  const upper = declineLine(now, runOut.latest, to).slice(1);
  const corner = { at: Math.min(to, upper[0]?.at ?? to), usd: 0 };
  return [...lower, ...(runOut.earliest < to ? [corner] : []), ...upper];
}

function axisDollars(usd: number): string {
  return usd >= 1 ? `$${usd.toLocaleString("en-US")}` : usd === 0 ? "$0" : dollars(usd);
}

function description(points: readonly Point[], credits: number, alertAt: number, runOut: RunOut | null): string {
  const left = points.at(-1)?.usd ?? 0;
  const forecast = runOut === null ? "" : `; likely to run out on ${day(runOut.likely)}`;
  return `${dollars(left)} of ${dollars(credits)} remaining; alert at ${dollars(alertAt)}${forecast}`;
}
