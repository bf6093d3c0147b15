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

interface Props {
  points: readonly Point[];
  credits: number;
  alertAt: number;
  /** When nothing is left if it goes on so; null: not known. */
  emptyAt: number | null;
}

const HEIGHT = 200;
const LEFT = 62;
const RIGHT = 12;
const TOP = 16;
const BOTTOM = 24;
const DAY_MS = 86_400_000;

export function BurnDown({ points, credits, alertAt, emptyAt }: Props) {
  const [place, width] = useWidth<HTMLDivElement>();
  const last = points.at(-1);
  if (last === undefined) return null;
  const [from, to] = range(points, emptyAt);
  const x = linear([from, to], [LEFT, width - RIGHT]);
  const y = linear([0, credits || 1], [HEIGHT - BOTTOM, TOP]);
  const path = points.map(({ at, usd }) => `${x(at).toFixed(1)} ${y(usd).toFixed(1)}`);
  const ticks = timeTicks(from, to, Math.max(2, Math.floor((width - LEFT) / 60)));
  const ahead = emptyAt === null ? null : { at: to, usd: at(last, emptyAt, to) };
  return (
    <div ref={place} className="figure">
      <svg width={width} height={HEIGHT} role="img" aria-label={summary(points, credits, alertAt, emptyAt)}>
        {roundTicks(0, credits, 4).map((tick) => (
          <g key={tick}>
            <line className="fig-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="fig-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {axisDollars(tick)}
            </text>
          </g>
        ))}
        <path className="burn-area" d={`M${x(points[0]?.at ?? from)} ${y(0)}L${path.join("L")}L${x(last.at)} ${y(0)}Z`} />
        <line className="burn-alert" x1={LEFT} x2={width - RIGHT} y1={y(alertAt)} y2={y(alertAt)} />
        <text className="fig-text burn-alert-name" x={width - RIGHT} y={y(alertAt) - 5} textAnchor="end">
          alert at {dollars(alertAt)}
        </text>
        <path className="burn-line" d={`M${path.join("L")}`} />
        {ahead !== null && <path className="burn-ahead" d={`M${x(last.at)} ${y(last.usd)}L${x(ahead.at)} ${y(ahead.usd)}`} />}
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

/** As much time ahead as behind, at least a day, at most until nothing is left. */
export function range(points: readonly Point[], emptyAt: number | null): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const first = Math.min(points[0]?.at ?? last, last - DAY_MS);
  if (emptyAt === null) return [first, last + (last - first) * 0.02];
  return [first, Math.min(emptyAt, last + Math.max(DAY_MS, last - first))];
}

/** What is left at a moment between now and the end, straight. */
function at(now: Point, emptyAt: number, moment: number): number {
  return emptyAt <= now.at ? 0 : now.usd * (1 - (moment - now.at) / (emptyAt - now.at));
}

function axisDollars(usd: number): string {
  return usd >= 1 ? `$${usd.toLocaleString("en-US")}` : usd === 0 ? "$0" : dollars(usd);
}

function summary(points: readonly Point[], credits: number, alertAt: number, emptyAt: number | null): string {
  const left = points.at(-1)?.usd ?? 0;
  const ahead = emptyAt === null ? "" : `; at this pace until ${day(emptyAt)}`;
  return `${dollars(left)} of ${dollars(credits)} are left, the alert comes at ${dollars(alertAt)}${ahead}`;
}
