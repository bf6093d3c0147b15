/** Where an output is wrong: one cell a piece of it, the redder the more of its elements are off. */
import { count, plural, significant } from "../../lib/format";
import type { ErrorGrid } from "../../lib/types";
import "./heatmap.css";

/** A picture of few cells stays small. */
const CELL_PX = 26;
const LARGEST_PX = 320;

export function HeatMap({ grid, name }: { grid: ErrorGrid; name: string }): React.JSX.Element {
  const { rows, columns } = grid;
  const gap = Math.max(rows, columns) > 12 ? 0 : 0.06; // lines between many cells would be all that is seen
  const wrongCells = grid.wrong.filter((share) => share !== null && share > 0).length;
  const total = grid.wrong.filter((share) => share !== null).length;
  const label = `Error over ${name}: ${count(wrongCells)} of ${plural(total, "cell")} of the picture hold wrong elements.`;
  return (
    <figure className="heatmap">
      <svg
        style={{ maxWidth: Math.min(LARGEST_PX, columns * CELL_PX), maxHeight: LARGEST_PX }}
        viewBox={`0 0 ${columns} ${rows}`}
        role="img"
        aria-label={label}
        shapeRendering="crispEdges"
      >
        {grid.wrong.map((share, at) => {
          if (share === null) return null;
          const row = Math.floor(at / columns);
          const column = at % columns;
          return (
            <rect
              key={at}
              x={column + gap / 2}
              y={row + gap / 2}
              width={1 - gap}
              height={1 - gap}
              className={share > 0 ? "wrong" : "right"}
              fillOpacity={share > 0 ? 0.35 + 0.65 * share : 1}
            >
              <title>{cellText(grid, row, column, share, grid.largest[at] ?? 0)}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="small dim">
        <span>
          <code>{name}</code>, {shapeText(grid)}: {cellSize(grid)}
        </span>
        <span className="row">
          <span className="key right" /> right <span className="key some" /> some wrong <span className="key all" /> all wrong
        </span>
      </figcaption>
    </figure>
  );
}

/** Rows or columns that a cell covers, the last one not included. */
export function covered(at: number, cells: number, extent: number): [number, number] {
  return [Math.floor((at * extent) / cells), Math.floor(((at + 1) * extent) / cells)];
}

function range([from, to]: [number, number]): string {
  return to - from <= 1 ? String(from) : `${from}…${to - 1}`;
}

function shapeText({ shape }: ErrorGrid): string {
  return shape.map(count).join(" × ");
}

function cellSize({ rows, columns, height, width }: ErrorGrid): string {
  if (rows === height && columns === width) return "one element a cell";
  return `about ${significant(height / rows, 2)} × ${significant(width / columns, 2)} elements a cell`;
}

function cellText(grid: ErrorGrid, row: number, column: number, share: number, largest: number): string {
  const where = `row ${range(covered(row, grid.rows, grid.height))}, column ${range(covered(column, grid.columns, grid.width))}`;
  if (share === 0) return `${where}: right`;
  const size = largest > 0 ? `, off by up to ${significant(largest)}` : "";
  return `${where}: ${significant(100 * share, 3)}% wrong${size}`;
}
