/** Credits left over time, how long they last at this pace, and the line at which the alert comes. */
import { dollars } from "../../lib/format";
import { linear, roundTicks } from "./scales";
import { day, tickName, timeTicks } from "./times";
import { useWidth } from "./useWidth";
import "./figures.css";
import "./lanes.css";

export interface Point {
  at: number;
  usd: number;
}

/** When nothing is left if it goes on so: the best guess, and where it lies nine times of ten. */
export interface Ahead {
  soonest: number;
  likely: number;
  latest: number;
}

interface Props {
  points: readonly Point[];
  credits: number;
  alertAt: number;
  ahead: Ahead | null;
}

const HEIGHT = 200;
const LEFT = 62;
const RIGHT = 12;
const TOP = 16;
const BOTTOM = 24;
const DAY_MS = 86_400_000;

export function BurnDown({ points, credits, alertAt, ahead }: Props) {
  const [place, width] = useWidth<HTMLDivElement>();
  const last = points.at(-1);
  if (last === undefined) return null;
  const [from, to] = range(points, ahead);
  const x = linear([from, to], [LEFT, width - RIGHT]);
  const y = linear([0, credits || 1], [HEIGHT - BOTTOM, TOP]);
  const ticks = timeTicks(from, to, Math.max(2, Math.floor((width - LEFT) / 60)));
  const line = (of: readonly Point[]): string => of.map(({ at, usd }) => `${x(at).toFixed(1)} ${y(usd).toFixed(1)}`).join("L");
  return (
    <div ref={place} className="figure">
      <svg width={width} height={HEIGHT} role="img" aria-label={summary(points, credits, alertAt, ahead)}>
        {roundTicks(0, credits, 4).map((tick) => (
          <g key={tick}>
            <line className="fig-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="fig-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {axisDollars(tick)}
            </text>
          </g>
        ))}
        <path className="burn-area" d={`M${x(points[0]?.at ?? from)} ${y(0)}L${line(points)}L${x(last.at)} ${y(0)}Z`} />
        {ahead !== null && <path className="burn-band" d={`M${line(band(last, ahead, to))}Z`} />}
        <line className="burn-alert" x1={LEFT} x2={width - RIGHT} y1={y(alertAt)} y2={y(alertAt)} />
        <text className="fig-text burn-alert-name" x={width - RIGHT} y={y(alertAt) - 5} textAnchor="end">
          alert at {dollars(alertAt)}
        </text>
        <path className="burn-line" d={`M${line(points)}`} />
        {ahead !== null && <path className="burn-ahead" d={`M${line(falling(last, ahead.likely, to))}`} />}
        <circle className="burn-now" cx={x(last.at)} cy={y(last.usd)} r="4" />
        <line className="fig-axis" x1={LEFT} x2={width - RIGHT} y1={y(0)} y2={y(0)} />
        {ticks.map((tick) => (
          <text key={tick} className="fig-text" x={x(tick)} y={HEIGHT - 8} textAnchor={x(tick) > width - 30 ? "end" : "middle"}>
            {tickName(tick, to - from)}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** As much time ahead as behind, at least a day, at most until nothing is left for sure. */
export function range(points: readonly Point[], ahead: Ahead | null): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const first = Math.min(points[0]?.at ?? last, last - DAY_MS);
  if (ahead === null) return [first, last + (last - first) * 0.02];
  return [first, Math.min(Math.max(ahead.latest, last + DAY_MS), last + Math.max(DAY_MS, last - first))];
}

/** What is left from now on, straight down to nothing and no farther than `to`. */
export function falling(now: Point, emptyAt: number, to: number): Point[] {
  if (emptyAt <= now.at) return [now, { at: now.at, usd: 0 }];
  if (emptyAt <= to) return [now, { at: emptyAt, usd: 0 }];
  return [now, { at: to, usd: now.usd * (1 - (to - now.at) / (emptyAt - now.at)) }];
}

/** All that lies between the soonest and the latest end. */
export function band(now: Point, ahead: Ahead, to: number): Point[] {
  const lower = falling(now, ahead.soonest, to);
  const upper = falling(now, ahead.latest, to).slice(1);
  const corner = { at: Math.min(to, upper[0]?.at ?? to), usd: 0 };
  return [...lower, ...(ahead.soonest < to ? [corner] : []), ...upper];
}

function axisDollars(usd: number): string {
  return usd >= 1 ? `$${usd.toLocaleString("en-US")}` : usd === 0 ? "$0" : dollars(usd);
}

function summary(points: readonly Point[], credits: number, alertAt: number, ahead: Ahead | null): string {
  const left = points.at(-1)?.usd ?? 0;
  const until = ahead === null ? "" : `; at this pace until ${day(ahead.likely)}`;
  return `${dollars(left)} of ${dollars(credits)} are left, the alert comes at ${dollars(alertAt)}${until}`;
}
