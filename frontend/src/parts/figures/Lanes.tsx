/** What each VM did over the last hours: booting, working, idle, in colours and in heights. */
import { memo } from "react";
import { span } from "../../lib/format";
import type { Lane, LanePiece, Meter } from "../../lib/types";
import { linear, type Scale } from "./scales";
import { clock, tickName, timeTicks } from "./times";
import { useWidth } from "./useWidth";
import "./figures.css";
import "./lanes.css";

interface Props {
  lanes: readonly Lane[];
  /** In ms, by the service's clock. */
  from: number;
  to: number;
  names: Record<Meter, string>;
}

const ROW = 26;
const BAR = 16;
const AXIS = 22;
const NARROW = 480;

/** Redrawn only where something changed: a busy day has thousands of pieces. */
export const Lanes = memo(function Lanes({ lanes, from, to, names }: Props) {
  const [place, width] = useWidth<HTMLDivElement>();
  const left = width < NARROW ? 0 : 112;
  const row = left === 0 ? ROW + 16 : ROW;
  const x = linear([from, to], [left, width - 1]);
  const height = lanes.length * row;
  const ticks = timeTicks(from, to, Math.max(2, Math.floor((width - left) / 64)));
  const label = `What ${lanes.length === 1 ? "one VM" : `${lanes.length} VMs`} did from ${clock(from)} to ${clock(to)}; the table below has the sums`;
  return (
    <div ref={place} className="figure">
      <svg width={width} height={height + AXIS} role="img" aria-label={label}>
        {ticks.map((tick) => (
          <line key={tick} className="fig-grid" x1={x(tick)} x2={x(tick)} y1={0} y2={height + 4} />
        ))}
        {lanes.map((lane, index) => {
          const top = index * row + (row - BAR - 4);
          return (
            <g key={lane.vm_id}>
              <text
                className="fig-text"
                x={left === 0 ? 0 : left - 8}
                y={left === 0 ? top - 5 : top + 12}
                textAnchor={left === 0 ? "start" : "end"}
              >
                {short(lane.vm_id)}
              </text>
              <line className="fig-grid" x1={left} x2={width} y1={top + BAR + 0.5} y2={top + BAR + 0.5} />
              {lane.pieces.map((piece) => (
                <Piece key={piece.started_at} piece={piece} x={x} to={to} top={top} names={names} />
              ))}
            </g>
          );
        })}
        {ticks.map((tick) => (
          <text key={tick} className="fig-text" x={x(tick)} y={height + AXIS - 4} textAnchor={anchor(x(tick), left, width)}>
            {tickName(tick, to - from)}
          </text>
        ))}
      </svg>
    </div>
  );
});

/** Idle is lower than work, so that the two are told apart without colour too. */
const SHARE: Record<Meter, number> = { PROVISIONING: 0.65, WORK: 1, IDLE: 0.3 };

interface PieceProps {
  piece: LanePiece;
  x: Scale;
  to: number;
  top: number;
  names: Record<Meter, string>;
}

function Piece({ piece, x, to, top, names }: PieceProps): React.JSX.Element {
  const start = Date.parse(piece.started_at);
  const end = piece.open ? Math.max(to, start) : Date.parse(piece.ended_at);
  const height = BAR * SHARE[piece.meter];
  // A second of work in a day is a hair: it is drawn a pixel wide, or nobody would see it.
  const width = Math.max(piece.meter === "WORK" ? 1.5 : 0.5, x(end) - x(start));
  return (
    <rect className={`lane-${piece.meter.toLowerCase()}`} x={x(start)} y={top + BAR - height} width={width} height={height}>
      <title>{`${names[piece.meter]} ${clock(start)} to ${piece.open ? "now" : clock(end)}, ${span((end - start) / 1000)}`}</title>
    </rect>
  );
}

/** Ids are long; their end tells them apart. */
export function short(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 3)}…${id.slice(-8)}`;
}

function anchor(at: number, left: number, right: number): "start" | "middle" | "end" {
  if (at - left < 18) return "start";
  return right - at < 18 ? "end" : "middle";
}
