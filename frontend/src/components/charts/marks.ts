/** Draw the marks that uPlot has no paths for: dots, boxes and labels. */
import type uPlot from "uplot";
import type { Label, Mark } from "./chartSpec";

const DOT_PX = 2.25;
/** Above this many dots, those that would cover each other are drawn once. */
const DENSE = 4000;

interface Grid {
  columns: number;
  rows: number;
  used: Uint8Array;
}

/** Draw a dot per value between two indices. */
export function drawDots(plot: uPlot, values: uPlot.AlignedData[number], from: number, to: number, color: string): void {
  const { ctx, bbox } = plot;
  const radius = DOT_PX * devicePixelRatio;
  const grid = to - from > DENSE ? emptyGrid(bbox.width, bbox.height, radius) : null;
  const [x, y] = [position(plot, "x"), position(plot, "y")];
  const xs = plot.data[0];
  ctx.fillStyle = color;
  ctx.beginPath();
  for (let index = from; index <= to; index += 1) {
    const value = values[index];
    const at = xs[index];
    if (value === null || value === undefined || at === undefined) continue;
    const [left, top] = [x(at), y(value)];
    if (grid !== null) {
      if (taken(grid, (left - bbox.left) / radius, (top - bbox.top) / radius)) continue;
      ctx.rect(left - radius / 2, top - radius / 2, radius, radius);
    } else {
      ctx.moveTo(left + radius, top);
      ctx.arc(left, top, radius, 0, 2 * Math.PI);
    }
  }
  ctx.fill();
}

function emptyGrid(width: number, height: number, cell: number): Grid {
  const [columns, rows] = [Math.ceil(width / cell) + 1, Math.ceil(height / cell) + 1];
  return { columns, rows, used: new Uint8Array(columns * rows) };
}

/** Mark the cell of a dot as taken, and return whether it already was. Dots outside the plot count as taken. */
function taken({ columns, rows, used }: Grid, x: number, y: number): boolean {
  const [column, row] = [Math.floor(x), Math.floor(y)];
  if (column < 0 || row < 0 || column >= columns || row >= rows) return true;
  const cell = row * columns + column;
  if (used[cell] === 1) return true;
  used[cell] = 1;
  return false;
}

type Boxes = Extract<Mark, { kind: "boxes" }>;

/** Draw filled rectangles; a rectangle without width or height is a line. */
export function drawBoxes(plot: uPlot, { boxes, minWidthPx = 0, gapPx = 0 }: Boxes, color: string): void {
  const { ctx, bbox } = plot;
  const [x, y] = [position(plot, "x"), position(plot, "y")];
  const thin = Math.max(1, devicePixelRatio);
  ctx.fillStyle = color;
  for (const { x0, x1, y0, y1 } of boxes) {
    const left = x0 === null ? bbox.left : x(x0);
    const right = x1 === null ? bbox.left + bbox.width : x(x1);
    const top = y1 === null ? bbox.top : y(y1);
    const bottom = y0 === null ? bbox.top + bbox.height : y(y0);
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    const isVertical = x0 !== null && x0 === x1;
    const isHorizontal = y0 !== null && y0 === y1;
    const width = isVertical ? 2 * thin : Math.max(right - left - gapPx * devicePixelRatio, minWidthPx * devicePixelRatio);
    const height = isHorizontal ? 2 * thin : Math.abs(bottom - top);
    // A line is centered on its value.
    ctx.fillRect(isVertical ? left - thin : left, Math.min(top, bottom) - (isHorizontal ? thin : 0), width, height);
  }
}

/** Fill the area between two lines. */
export function drawBand(plot: uPlot, lower: readonly (number | null)[], upper: readonly (number | null)[], color: string): void {
  const { ctx } = plot;
  const [x, y] = [position(plot, "x"), position(plot, "y")];
  const corners = (values: readonly (number | null)[]): [number, number][] =>
    values.flatMap((value, index): [number, number][] => (value === null ? [] : [[x(plot.data[0][index] ?? 0), y(value)]]));
  ctx.fillStyle = color;
  ctx.beginPath();
  for (const [left, top] of [...corners(lower), ...corners(upper).reverse()]) ctx.lineTo(left, top);
  ctx.fill();
}

/** In a narrower plot names would cross other lines; the legend has them as well. */
const MIN_WIDTH_FOR_NAMES_PX = 480;

/** A rectangle on the canvas that has text. */
export interface TextBox {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/**
 * Write the name of a line above it: at the right end if it is horizontal, else along its start. A name that would overlap
 * one of `taken` is moved to the left.
 */
export function drawLineName(plot: uPlot, values: uPlot.AlignedData[number], text: string, color: string, font: string, taken: TextBox[]): void {
  const { ctx, bbox } = plot;
  if (bbox.width < MIN_WIDTH_FOR_NAMES_PX * devicePixelRatio) return;
  const [x, y] = [position(plot, "x"), position(plot, "y")];
  const corners = Array.from(plot.data[0]).flatMap((at, index): [number, number][] => {
    const value = values[index];
    return value === null || value === undefined ? [] : [[x(at), y(value)]];
  });
  const [start, end] = [corners[0], corners.at(-1)];
  if (start === undefined || end === undefined) return;
  const slope = (end[1] - start[1]) / (end[0] - start[0] || 1);
  const isFlat = Math.abs(slope) < 1e-3;
  const left = isFlat ? Math.min(end[0], bbox.left + bbox.width) : Math.max(start[0], bbox.left, start[0] + (bbox.top + bbox.height - start[1]) / slope);
  const top = start[1] + slope * (left - start[0]);
  if (left > bbox.left + bbox.width || left > end[0] || top < bbox.top || top > bbox.top + bbox.height + 1) return;
  ctx.save();
  ctx.font = font;
  const right = left - 6 * devicePixelRatio;
  const size = { width: ctx.measureText(text).width, height: 14 * devicePixelRatio };
  const moved = isFlat ? freeRight(right, top, size, taken) - right : 0;
  if (isFlat) taken.push({ left: right + moved - size.width, right: right + moved, top: top - size.height, bottom: top });
  ctx.translate(left + moved, top);
  ctx.rotate(Math.atan(slope));
  ctx.fillStyle = color;
  ctx.textAlign = isFlat ? "right" : "left";
  ctx.textBaseline = "bottom";
  ctx.fillText(text, (isFlat ? -6 : 6) * devicePixelRatio, -2 * devicePixelRatio);
  ctx.restore();
}

/** The right end of a text with its bottom at `bottom` that overlaps none of the others, at or left of `right`. */
export function freeRight(right: number, bottom: number, { width, height }: { width: number; height: number }, taken: readonly TextBox[]): number {
  const overlapped = taken.find((other) => other.left < right && other.right > right - width && other.top < bottom && other.bottom > bottom - height);
  return overlapped === undefined ? right : freeRight(overlapped.left - height, bottom, { width, height }, taken);
}

interface LabelColors {
  fill: string;
  text: string;
  edge: string;
  font: string;
}

/** Draw labels in rounded boxes. Labels that would overlap are drawn as one. */
export function drawLabels(plot: uPlot, labels: readonly Label[], { fill, text, edge, font }: LabelColors): void {
  const { ctx } = plot;
  const size = 9 * devicePixelRatio;
  const [x, y] = [position(plot, "x"), position(plot, "y")];
  const drawn = labels.map((label) => ({ text: label.text, x: x(label.x), y: y(label.y) }));
  ctx.font = font;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const group of groupNearby(drawn, 2 * size)) {
    const first = group[0];
    if (first === undefined) continue;
    const words = ranges(group.map((label) => label.text));
    const width = Math.max(2 * size, ctx.measureText(words).width + size);
    ctx.beginPath();
    ctx.roundRect(first.x - width / 2, first.y - size, width, 2 * size, size);
    ctx.fillStyle = fill;
    ctx.fill();
    ctx.strokeStyle = edge;
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.stroke();
    ctx.fillStyle = text;
    ctx.fillText(words, first.x, first.y);
  }
}

/** Group points that would overlap: each is within `distance` of the first point of its group. */
export function groupNearby<T extends { x: number; y: number }>(points: readonly T[], distance: number): T[][] {
  const groups: T[][] = [];
  for (const point of points) {
    const group = groups.find(([first]) => first !== undefined && Math.hypot(first.x - point.x, first.y - point.y) < distance);
    if (group) group.push(point);
    else groups.push([point]);
  }
  return groups;
}

/** Abbreviate a list of numbers: `1–3, 7`. */
export function ranges(texts: readonly string[]): string {
  const result: [number, number][] = [];
  for (const number of texts.map(Number).sort((a, b) => a - b)) {
    const last = result.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else result.push([number, number]);
  }
  return result.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(", ");
}

/** Map values to pixels of the canvas. A linear scale is two multiplications, which matters for many values. */
function position(plot: uPlot, scale: "x" | "y"): (value: number) => number {
  const { min, max, distr } = plot.scales[scale] ?? {};
  if (Number(distr) === 3 || min === undefined || max === undefined) return (value) => plot.valToPos(value, scale, true);
  const [first, last] = [plot.valToPos(min, scale, true), plot.valToPos(max, scale, true)];
  const factor = (last - first) / (max - min || 1);
  return (value) => first + (value - min) * factor;
}
