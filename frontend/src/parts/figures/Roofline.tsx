/** The roofline, log-log: what the GPU can do at best for each FLOP a byte, and where each case is below it. */
import { gflops, significant } from "../../lib/format";
import { attainable, groups, ridge, spans, type Ceilings, type Point } from "./ceilings";
import { decades, decadesAround, logarithmic, type Scale } from "./scales";
import { useWidth } from "./useWidth";
import "./figures.css";

interface Props {
  limits: Ceilings;
  points: readonly Point[];
}

const MARK = 9;
const HEIGHT = 320;
const LEFT = 68;
const RIGHT = 16;
const TOP = 22;
const BOTTOM = 44;

export function Roofline({ limits, points }: Props) {
  const [place, width] = useWidth<HTMLDivElement>();
  const peak = limits.flops_per_s / 1e9;
  const corner = ridge(limits);
  const xs = decadesAround([corner, ...points.map((point) => point.intensity)]);
  const ys = decadesAround([peak, ...points.map((point) => point.gflops)]);
  const x = logarithmic(xs, [LEFT, width - RIGHT]);
  const y = logarithmic(ys, [HEIGHT - BOTTOM, TOP]);
  // Where the slanted ceiling leaves the picture at the bottom or on the left.
  const from = Math.max(xs[0], (ys[0] * 1e9) / limits.bandwidth_bytes_per_s);
  const slope = `M${x(from)},${y(attainable(limits, from))} L${x(corner)},${y(peak)} L${x(xs[1])},${y(peak)}`;
  const middle = { x: (x(from) + x(corner)) / 2, y: (y(attainable(limits, from)) + y(peak)) / 2 };
  const angle = (180 / Math.PI) * Math.atan2(y(peak) - middle.y, x(corner) - middle.x);
  const drawn = points.map((point) => ({ point, x: x(point.intensity), y: y(point.gflops) }));
  const bandwidth = `${significant(limits.bandwidth_bytes_per_s / 1e12)} TB/s`;
  const summary = `Roofline of ${limits.gpu}: at most ${gflops(peak)}, memory ${bandwidth}. ${points
    .map((point) => `${point.name}: ${gflops(point.gflops)} at ${significant(point.intensity)} FLOP a byte`)
    .join("; ")}`;
  return (
    <div ref={place} className="figure">
      <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
        {decades(...ys).map((tick) => (
          <g key={`y${tick}`}>
            <line className="fig-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="fig-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {power(tick)}
            </text>
          </g>
        ))}
        {decades(...xs).map((tick) => (
          <g key={`x${tick}`}>
            <line className="fig-grid" x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text className="fig-text" x={x(tick)} y={HEIGHT - BOTTOM + 16} textAnchor="middle">
              {power(tick)}
            </text>
          </g>
        ))}
        <path className="fig-ceiling" d={slope} />
        <text className="fig-text fig-strong" x={width - RIGHT} y={y(peak) - 7} textAnchor="end">
          {gflops(peak)}
        </text>
        <text
          className="fig-text fig-strong"
          transform={`translate(${middle.x} ${middle.y - 8}) rotate(${angle})`}
          textAnchor="middle"
        >
          {bandwidth}
        </text>
        {groups(drawn, 2 * MARK).map((group) => (
          <Mark key={group[0]?.point.test_id} group={group} limits={limits} y={y} />
        ))}
        <text className="fig-text" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 8} textAnchor="middle">
          FLOP a byte
        </text>
        <text className="fig-text" x={LEFT - 8} y={12} textAnchor="end">
          GFLOP/s
        </text>
      </svg>
    </div>
  );
}

interface MarkProps {
  group: readonly { point: Point; x: number; y: number }[];
  limits: Ceilings;
  y: Scale;
}

/** Cases at one place, with the way that is left to the roof. */
function Mark({ group, limits, y }: MarkProps): React.JSX.Element | null {
  const first = group[0];
  if (first === undefined) return null;
  const text = spans(group.map((each) => each.point.test_id));
  const width = Math.max(2 * MARK, 8 + 7 * text.length);
  return (
    <g className="fig-point">
      <line x1={first.x} x2={first.x} y1={y(attainable(limits, first.point.intensity))} y2={first.y} />
      <rect x={first.x - width / 2} y={first.y - MARK} width={width} height={2 * MARK} rx={MARK} />
      <text x={first.x} y={first.y + 4} textAnchor="middle">
        {text}
      </text>
      <title>{group.map(({ point }) => `${point.name}: ${gflops(point.gflops)}`).join("; ")}</title>
    </g>
  );
}

/** 0.01, 1, 100, and 10⁶ above what is read at a glance. */
function power(value: number): string {
  if (value < 1e4 && value >= 1e-3) return String(value);
  const exponent = String(Math.round(Math.log10(value)));
  return `10${exponent.replace(/./g, (digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit))))}`;
}
