/** A log-log roofline chart: the attainable rate per arithmetic intensity, and a point per case. */
import { gflops, significant } from "../../lib/format";
import { attainable, groupNearby, ridge, ranges, type Ceilings, type Point } from "./rooflineModel";
import { decades, decadesAround, logarithmic, type Scale } from "./scales";
import { useWidth } from "./useWidth";
import "./charts.css";

interface Props {
  limits: Ceilings;
  points: readonly Point[];
}

const MARKER = 9;
const HEIGHT = 320;
const LEFT = 68;
const RIGHT = 16;
const TOP = 22;
const BOTTOM = 44;

export function Roofline({ limits, points }: Props) {
  const [container, width] = useWidth<HTMLDivElement>();
  const peak = limits.flops_per_s / 1e9;
  const corner = ridge(limits);
  const xs = decadesAround([corner, ...points.map((point) => point.intensity)]);
  const ys = decadesAround([peak, ...points.map((point) => point.gflops)]);
  const x = logarithmic(xs, [LEFT, width - RIGHT]);
  const y = logarithmic(ys, [HEIGHT - BOTTOM, TOP]);
  // Where the bandwidth ceiling enters the chart, at the bottom or on the left.
  const from = Math.max(xs[0], (ys[0] * 1e9) / limits.bandwidth_bytes_per_s);
  const slope = `M${x(from)},${y(attainable(limits, from))} L${x(corner)},${y(peak)} L${x(xs[1])},${y(peak)}`;
  const middle = { x: (x(from) + x(corner)) / 2, y: (y(attainable(limits, from)) + y(peak)) / 2 };
  const angle = (180 / Math.PI) * Math.atan2(y(peak) - middle.y, x(corner) - middle.x);
  const drawn = points.map((point) => ({ point, x: x(point.intensity), y: y(point.gflops) }));
  const bandwidth = `${significant(limits.bandwidth_bytes_per_s / 1e12)} TB/s`;
  const summary = `Roofline of ${limits.gpu}: peak ${gflops(peak)}, memory bandwidth ${bandwidth}. ${points
    .map((point) => `${point.name}: ${gflops(point.gflops)} at ${significant(point.intensity)} FLOP/byte`)
    .join("; ")}`;
  return (
    <div ref={container} className="chart">
      <svg width={width} height={HEIGHT} role="img" aria-label={summary}>
        {decades(...ys).map((tick) => (
          <g key={`y${tick}`}>
            <line className="chart-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
            <text className="chart-text" x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
              {power(tick)}
            </text>
          </g>
        ))}
        {decades(...xs).map((tick) => (
          <g key={`x${tick}`}>
            <line className="chart-grid" x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text className="chart-text" x={x(tick)} y={HEIGHT - BOTTOM + 16} textAnchor="middle">
              {power(tick)}
            </text>
          </g>
        ))}
        <path className="chart-ceiling" d={slope} />
        <text className="chart-text chart-strong" x={width - RIGHT} y={y(peak) - 7} textAnchor="end">
          {gflops(peak)}
        </text>
        <text
          className="chart-text chart-strong"
          transform={`translate(${middle.x} ${middle.y - 8}) rotate(${angle})`}
          textAnchor="middle"
        >
          {bandwidth}
        </text>
        {groupNearby(drawn, 2 * MARKER).map((group) => (
          <Marker key={group[0]?.point.test_id} group={group} limits={limits} y={y} />
        ))}
        <text className="chart-text" x={(LEFT + width - RIGHT) / 2} y={HEIGHT - 8} textAnchor="middle">
          FLOP/byte
        </text>
        <text className="chart-text" x={LEFT - 8} y={12} textAnchor="end">
          GFLOP/s
        </text>
      </svg>
    </div>
  );
}

interface MarkerProps {
  group: readonly { point: Point; x: number; y: number }[];
  limits: Ceilings;
  y: Scale;
}

/** A marker for one or more cases, with a line up to the roof. */
function Marker({ group, limits, y }: MarkerProps): React.JSX.Element | null {
  const first = group[0];
  if (first === undefined) return null;
  const text = ranges(group.map(({ point }) => point.test_id));
  const width = Math.max(2 * MARKER, 8 + 7 * text.length);
  return (
    <g className="chart-point">
      <line x1={first.x} x2={first.x} y1={y(attainable(limits, first.point.intensity))} y2={first.y} />
      <rect x={first.x - width / 2} y={first.y - MARKER} width={width} height={2 * MARKER} rx={MARKER} />
      <text x={first.x} y={first.y + 4} textAnchor="middle">
        {text}
      </text>
      <title>{group.map(({ point }) => `${point.name}: ${gflops(point.gflops)}`).join("; ")}</title>
    </g>
  );
}

/** Format a tick: 0.01, 1, 100, but 10⁶. */
function power(value: number): string {
  if (value < 1e4 && value >= 1e-3) return String(value);
  const exponent = String(Math.round(Math.log10(value)));
  return `10${exponent.replace(/./g, (digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(Number(digit))))}`;
}
