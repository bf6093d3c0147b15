/** The description of a chart: axes, series and table. It is data without a canvas, so that it can be tested. */
import { categoryTicks, decimalsOfStep, extentOf, linearTicks, logTicks, type Range } from "./scales";
import { tickLabel, timeTicks } from "./timeAxis";

/** A CSS color of the theme, such as `var(--accent)`. */
export type Color = string;

interface AxisBase {
  /** What is plotted, with its unit: `Time (µs)`. May be empty for categories and times of day. */
  label: string;
  /** The values that the axis contains when it is not zoomed. */
  extent: Range;
}

/** An axis. Only the categories are not numbers or times: category 0 is on the left, or at the top. */
export type Axis = AxisBase &
  (
    | { kind: "linear"; integer?: boolean; format: (value: number, step: number) => string }
    | { kind: "log"; format: (value: number) => string }
    | { kind: "time" }
    | { kind: "category"; names: readonly string[] }
  );

/** A rectangle in the units of the axes; null is the edge of the plot. */
export interface Box {
  x0: number | null;
  x1: number | null;
  y0: number | null;
  y1: number | null;
}

export interface Label {
  x: number;
  y: number;
  text: string;
}

/** How a series is drawn. */
export type Mark =
  | { kind: "line"; width?: number; dash?: readonly number[]; label?: string }
  | { kind: "dots" }
  | { kind: "boxes"; boxes: readonly Box[]; minWidthPx?: number; gapPx?: number }
  | { kind: "band"; lower: readonly (number | null)[]; upper: readonly (number | null)[] }
  | { kind: "labels"; labels: readonly Label[] };

export interface Series {
  name: string;
  color: Color;
  mark: Mark;
  /** One value per entry of `xs`; null where there is none. */
  values: readonly (number | null)[];
}

export type Cell = string | number | null;

export interface Column {
  name: string;
  /** How the cell is shown on the page; files have the plain value. */
  format?: (value: number) => string;
}

export interface Table {
  columns: readonly Column[];
  rows: readonly (readonly Cell[])[];
}

export interface ChartSpec {
  /** The chart in a sentence, for screen readers. */
  summary: string;
  heightPx: number;
  x: Axis;
  y: Axis;
  /** Whether the vertical axis adapts to what is visible after a horizontal zoom. */
  fitY?: boolean;
  /** Ascending. */
  xs: readonly number[];
  series: readonly Series[];
  /** The values at an index of `xs`, for the crosshair. */
  readout: (index: number) => string;
  table: Table;
  /** The name of exported files, without a suffix. */
  fileName: string;
}

/** The selected part of a chart. `y` is null if only the horizontal axis is zoomed. */
export interface Zoom {
  x: Range;
  y: Range | null;
}

export interface AxisView {
  min: number;
  max: number;
  ticks: readonly number[];
}

export interface View {
  x: AxisView;
  y: AxisView;
}

const PX_PER_TICK_X: Record<Axis["kind"], number> = { linear: 76, log: 56, time: 68, category: 60 };
const PX_PER_TICK_Y: Record<Axis["kind"], number> = { linear: 30, log: 28, time: 30, category: 14 };

/** The ranges and ticks of both axes. The end ticks contain everything that is shown. */
export function viewOf(spec: ChartSpec, zoom: Zoom | null, size: { width: number; height: number }): View {
  const x = axisView(spec.x, zoom?.x ?? spec.x.extent, size.width / PX_PER_TICK_X[spec.x.kind]);
  const visible = zoom !== null && spec.fitY === true ? visibleExtent(spec, x) : spec.y.extent;
  const y = axisView(spec.y, zoom?.y ?? visible, size.height / PX_PER_TICK_Y[spec.y.kind]);
  return { x, y };
}

/** The range of an axis, and its ticks. */
export function axisView(axis: Axis, [low, high]: Range, limit: number): AxisView {
  if (axis.kind === "category") {
    const first = Math.max(0, Math.round(low));
    const last = Math.min(axis.names.length - 1, Math.max(first, Math.round(high)));
    return { min: first - 0.5, max: last + 0.5, ticks: categoryTicks(first, last, limit) };
  }
  const ticks = ticksOf(axis, low, high, limit);
  return { min: ticks[0] ?? low, max: ticks.at(-1) ?? high, ticks };
}

function ticksOf(axis: Exclude<Axis, { kind: "category" }>, low: number, high: number, limit: number): number[] {
  if (axis.kind === "time") return timeTicks(low, high, limit);
  if (axis.kind === "log") return logTicks(low, high, limit);
  return linearTicks(low, high, limit, axis.integer ?? false);
}

/** The label of each tick. */
export function tickLabels(axis: Axis, ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? (ticks[1] ?? 0) - (ticks[0] ?? 0) : 1;
  if (axis.kind === "category") return ticks.map((tick) => axis.names[tick] ?? "");
  if (axis.kind === "time") return ticks.map((tick) => tickLabel(tick, step));
  return ticks.map((tick) => axis.format(tick, step));
}

/** The range of the values between the ends of the horizontal axis; it includes 0 if the whole axis does. */
function visibleExtent(spec: ChartSpec, { min, max }: AxisView): Range {
  const first = lowerBound(spec.xs, min);
  const last = lowerBound(spec.xs, max, true);
  const values = function* (): Generator<number | null | undefined> {
    if (spec.y.extent[0] === 0) yield 0;
    for (const { values: all } of spec.series) for (let index = first; index < last; index += 1) yield all[index];
  };
  return extentOf(values(), spec.y.extent);
}

/** The first index whose value is at least (or, with `after`, above) the given one. */
export function lowerBound(sorted: readonly number[], value: number, after = false): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = sorted[middle] ?? Infinity;
    if (after ? found <= value : found < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Zoom by a factor around a position between 0 and 1 of the horizontal axis; null if that is the whole axis. */
export function zoomedBy(spec: ChartSpec, zoom: Zoom | null, factor: number, center: number): Zoom | null {
  const whole = spec.x.extent;
  const current = zoom?.x ?? whole;
  const [toLinear, fromLinear] = spec.x.kind === "log" ? [Math.log10, (value: number) => 10 ** value] : [identity, identity];
  const [low, high] = [toLinear(current[0]), toLinear(current[1])];
  const middle = low + (high - low) * center;
  const next: Range = [
    Math.max(whole[0], fromLinear(middle - (middle - low) / factor)),
    Math.min(whole[1], fromLinear(middle + (high - middle) / factor)),
  ];
  if (!(next[1] > next[0])) return zoom;
  return next[0] <= whole[0] && next[1] >= whole[1] ? null : { x: next, y: null };
}

/** `Zoomed to 120 to 140, Time (µs)`: the part of the horizontal axis that is shown. */
export function zoomText(spec: ChartSpec, zoom: Zoom, width: number): string {
  const { ticks } = viewOf(spec, zoom, { width, height: spec.heightPx }).x;
  const labels = tickLabels(spec.x, ticks);
  return `Zoomed to ${labels[0] ?? ""} to ${labels.at(-1) ?? ""}${spec.x.label === "" ? "" : `, ${spec.x.label}`}`;
}

function identity(value: number): number {
  return value;
}

/** The table as CSV, by RFC 4180. A text that a spreadsheet would take for a formula is preceded by an apostrophe. */
export function csvOf({ columns, rows }: Table): string {
  const lines = [columns.map(({ name }) => name), ...rows].map((row) => row.map(csvCell).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return Number.isFinite(cell) ? String(cell) : "";
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const TIME_UNITS: readonly [number, string][] = [
  [1e-3, "s"],
  [1, "ms"],
  [1e3, "µs"],
  [1e6, "ns"],
];

/** The unit that fits times up to this many milliseconds, and the number of these units in a millisecond. */
export function timeUnit(maxMs: number): { perMs: number; unit: string } {
  const [perMs, unit] = TIME_UNITS.find(([factor]) => maxMs * factor >= 1) ?? [1e6, "ns"];
  return { perMs, unit };
}

/** An axis of run times in milliseconds, labeled in the unit that fits. */
export function runtimeAxis(name: string, extent: Range): Axis {
  const { perMs, unit } = timeUnit(extent[1]);
  const format = (ms: number, step: number): string => (ms * perMs).toFixed(decimalsOfStep(step * perMs));
  return { kind: "linear", label: `${name} (${unit})`, extent, format };
}

/** An axis of counts. */
export function countAxis(label: string, extent: Range): Axis {
  return { kind: "linear", label, extent, integer: true, format: (value) => value.toLocaleString("en-US") };
}

/** An axis of dollars. */
export function dollarAxis(label: string, extent: Range): Axis {
  return { kind: "linear", label, extent, format: dollarTick };
}

function dollarTick(usd: number, step: number): string {
  const decimals = decimalsOfStep(step);
  const digits = decimals === 1 ? 2 : decimals; // $0.50, not $0.5
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

const PREFIXES: readonly [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A tick of a logarithmic axis: 0.01, 1, 500, 20k, 5M. */
export function compactText(value: number): string {
  const [scale, prefix] = PREFIXES.find(([scale]) => value >= scale) ?? [1, ""];
  return `${Number((value / scale).toPrecision(6))}${prefix}`;
}
