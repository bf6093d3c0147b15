/** A map of the errors in an output; the redder a cell, the more of its elements are wrong. */
import { count, plural, significant } from "../../lib/format";
import type { ErrorGrid } from "../../lib/generated";
import "./heatMap.css";

/** Limits the size of a map with few cells. */
const CELL_PX = 26;
const MAX_PX = 320;

export function HeatMap({ grid, name }: { grid: ErrorGrid; name: string }): React.JSX.Element {
  const { rows, columns } = grid;
  const gap = Math.max(rows, columns) > 12 ? 0 : 0.06; // gaps between many small cells would dominate the map
  const wrongCells = grid.wrong.filter((share) => share !== null && share > 0).length;
  const total = grid.wrong.filter((share) => share !== null).length;
  const label = `Errors in ${name}: ${count(wrongCells)} of ${plural(total, "cell")} of the map contain wrong elements.`;
  return (
    <figure className="heatmap">
      <svg
        style={{ maxWidth: Math.min(MAX_PX, columns * CELL_PX), maxHeight: MAX_PX }}
        viewBox={`0 0 ${columns} ${rows}`}
        role="img"
        aria-label={label}
        shapeRendering="crispEdges"
      >
        {grid.wrong.map((share, index) => {
          if (share === null) return null;
          const row = Math.floor(index / columns);
          const column = index % columns;
          return (
            <rect
              key={index}
              x={column + gap / 2}
              y={row + gap / 2}
              width={1 - gap}
              height={1 - gap}
              className={share > 0 ? "wrong" : "correct"}
              fillOpacity={share > 0 ? 0.35 + 0.65 * share : 1}
            >
              <title>{cellText(grid, row, column, share, grid.largest[index] ?? 0)}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption className="small dim">
        <span>
          <code>{name}</code>, {shapeText(grid)}: {cellSize(grid)}
        </span>
        <span className="row">
          <span className="key correct" /> correct <span className="key some" /> some wrong <span className="key all" /> all wrong
        </span>
      </figcaption>
    </figure>
  );
}

/** The half-open range of rows or columns that a cell covers. */
export function covered(index: number, cells: number, extent: number): [number, number] {
  return [Math.floor((index * extent) / cells), Math.floor(((index + 1) * extent) / cells)];
}

function range([from, to]: [number, number]): string {
  return to - from <= 1 ? String(from) : `${from}…${to - 1}`;
}

function shapeText({ shape }: ErrorGrid): string {
  return shape.map(count).join(" × ");
}

function cellSize({ rows, columns, height, width }: ErrorGrid): string {
  if (rows === height && columns === width) return "one element per cell";
  return `about ${significant(height / rows, 2)} × ${significant(width / columns, 2)} elements per cell`;
}

function cellText(grid: ErrorGrid, row: number, column: number, share: number, largest: number): string {
  const where = `row ${range(covered(row, grid.rows, grid.height))}, column ${range(covered(column, grid.columns, grid.width))}`;
  if (share === 0) return `${where}: correct`;
  const size = largest > 0 ? `, off by up to ${significant(largest)}` : "";
  return `${where}: ${significant(100 * share, 3)}% wrong${size}`;
}
