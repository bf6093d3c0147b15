/** One bar per VM over time: provisioning, work and idle, by color and by height. */
import { memo, useMemo } from "react";
import { dateTime, span } from "../../lib/format";
import type { VmTimelineResponse, TimelineSegmentResponse, Meter } from "../../lib/generated";
import { Chart } from "./Chart";
import type { Box, ChartSpec } from "./chartSpec";
import { METER_COLORS } from "./meterColors";
import { clock } from "./timeAxis";

interface Props {
  lanes: readonly VmTimelineResponse[];
  /** In ms, by the service's clock. */
  from: number;
  to: number;
  names: Record<Meter, string>;
}

const ROW_PX = 26;
const AXES_PX = 44;
/** Relative heights, so that the meters can be distinguished without color. */
const HEIGHT: Record<Meter, number> = { PROVISIONING: 0.5, WORK: 0.75, IDLE: 0.22 };
/** The lower edge of all bars of a VM, as a distance from the middle of its row. */
const BASE = 0.38;
/** A second of work is invisible on the scale of a day, so work has a minimum width. */
const MIN_WIDTH_PX: Record<Meter, number> = { PROVISIONING: 0.5, WORK: 1.5, IDLE: 0.5 };
const METERS: readonly Meter[] = ["PROVISIONING", "IDLE", "WORK"];

interface Piece {
  vm: string;
  lane: number;
  meter: Meter;
  start: number;
  end: number;
}

/** Memoized: a busy day has thousands of intervals. */
export const VmTimeline = memo(function VmTimeline({ lanes, from, to, names }: Props): React.JSX.Element {
  const spec = useMemo(() => timelineSpec(lanes, from, to, names), [lanes, from, to, names]);
  return <Chart spec={spec} />;
});

export function timelineSpec(lanes: readonly VmTimelineResponse[], from: number, to: number, names: Record<Meter, string>): ChartSpec {
  const pieces = lanes.flatMap((lane, index) => lane.pieces.map((piece) => pieceOf(lane.vm_id, index, piece, to)));
  const inside = pieces.flatMap(({ start, end }) => [start, end]).filter((at) => at > from && at < to);
  const xs = [...new Set([from, ...inside, to])].sort((a, b) => a - b);
  const none = xs.map(() => null);
  return {
    summary: `Activity of ${lanes.length === 1 ? "1 VM" : `${lanes.length} VMs`} from ${clock(from)} to ${clock(to)}; totals are in the table below`,
    heightPx: lanes.length * ROW_PX + AXES_PX,
    x: { kind: "time", label: "", extent: [from, to] },
    y: { kind: "category", label: "", extent: [0, Math.max(0, lanes.length - 1)], names: lanes.map((lane) => shortId(lane.vm_id)) },
    xs,
    series: METERS.map((meter) => ({
      name: names[meter],
      color: METER_COLORS[meter],
      mark: { kind: "boxes", boxes: pieces.filter((piece) => piece.meter === meter).map(boxOf), minWidthPx: MIN_WIDTH_PX[meter] },
      values: none,
    })),
    readout: (index) => readout(pieces, xs[index] ?? from, names),
    table: {
      columns: [{ name: "VM" }, { name: "meter" }, { name: "from" }, { name: "to" }, { name: "seconds", format: span }],
      rows: pieces.map(({ vm, meter, start, end }) => [vm, names[meter], isoTime(start), isoTime(end), (end - start) / 1000]),
    },
    fileName: "vm-history",
  };
}

function pieceOf(vm: string, lane: number, piece: TimelineSegmentResponse, to: number): Piece {
  const start = Date.parse(piece.started_at);
  const end = piece.open ? Math.max(to, start) : Date.parse(piece.ended_at);
  return { vm, lane, meter: piece.meter, start, end };
}

function boxOf({ lane, meter, start, end }: Piece): Box {
  return { x0: start, x1: end, y0: lane + BASE, y1: lane + BASE - HEIGHT[meter] };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Describe the activity of each VM at a time. */
function readout(pieces: readonly Piece[], at: number, names: Record<Meter, string>): string {
  const active = pieces.filter(({ start, end }) => start <= at && at < end).map(({ vm, meter }) => `${shortId(vm)} ${names[meter]}`);
  return `${dateTime(isoTime(at))}: ${active.length === 0 ? "no VM" : active.join(", ")}`;
}

/** Shorten an id to its end, which distinguishes it. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 3)}…${id.slice(-8)}`;
}
