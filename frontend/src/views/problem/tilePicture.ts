/** Draw which lane has which elements of A, B and D of a matrix instruction. */
import "./tile.css";
import type { Box, MatrixForm, Tile } from "./hipReference";

const SVG = "http://www.w3.org/2000/svg";
const GAP = 22;
const TOP = 14;
const NUMBER_PX = 10;

/** The size of an element in pixels, so that pictures of all forms are about equally large, and fit beside the editor. */
export function cellPx({ m, k }: Pick<MatrixForm, "m" | "k">): number {
  const smallest = Math.min(6, Math.floor(410 / (m + k)));
  return Math.max(smallest, Math.min(24, Math.floor(290 / (m + k))));
}

export function tilePicture(form: MatrixForm, tile: Tile): SVGSVGElement {
  const cell = cellPx(form);
  const [across, side] = [form.k * cell, form.m * cell];
  const [left, top] = [across + GAP, TOP + across + GAP];
  const [width, height] = [left + form.n * cell + 1, top + side + 1];
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "tile-picture", role: "img" });
  svg.setAttribute("aria-label", `Lanes of ${form.m}×${form.n}×${form.k}: A on the left, B above, D in the corner`);
  svg.append(
    text(left + (form.n * cell) / 2, 10, `B: ${form.k} × ${form.n}`, "tile-name"),
    text(across / 2, top - 6, "A", "tile-name"),
    text(left / 2, TOP + across / 2, form.blocks > 1 ? `product 1 of ${form.blocks}` : "numbers: lanes", "tile-name"),
    ...tile.b.flatMap((box) => boxOf(box, left, TOP, cell)),
    ...tile.a.flatMap((box) => boxOf(box, 0, top, cell)),
    ...tile.d.flatMap((box) => boxOf(box, left, top, cell)),
  );
  return svg;
}

function boxOf([lane, row, column, rows, columns]: Box, left: number, top: number, cell: number): SVGElement[] {
  const [x, y, width, height] = [left + column * cell, top + row * cell, columns * cell, rows * cell];
  const rect = element("rect", { x: x + 0.5, y: y + 0.5, width, height, class: `tile-lanes-${Math.floor(lane / 16)}` });
  // Two digits do not fit into a narrow box: number every fourth.
  if (width < NUMBER_PX && lane % 4 !== 0) return [rect];
  return [rect, text(x + width / 2, y + height / 2 + 2.5, String(lane), "tile-lane")];
}

function text(x: number, y: number, content: string, style: string): SVGElement {
  const node = element("text", { x, y, class: style });
  node.textContent = content;
  return node;
}

function element<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}
