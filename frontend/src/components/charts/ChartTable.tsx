/** The values of a chart as a table. */
import { count } from "../../lib/format";
import type { Cell, Column, Table } from "./chartSpec";

/** More rows would make the page slow; the exported file has all of them. */
const MAX_ROWS = 500;

export function ChartTable({ table, label }: { table: Table; label: string }): React.JSX.Element {
  const { columns, rows } = table;
  const numeric = columns.map((_, index) => rows.every((row) => typeof row[index] !== "string"));
  return (
    <>
      <div className="scroll plot-table-scroll" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              {columns.map(({ name }, index) => (
                <th key={name} className={numeric[index] === true ? "number" : ""}>
                  {name.replaceAll("_", " ")}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, MAX_ROWS).map((row, index) => (
              <tr key={index}>
                {row.map((cell, position) => (
                  <td key={position} className={numeric[position] === true ? "number" : ""}>
                    {cellText(cell, columns[position])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > MAX_ROWS && (
        <p className="dim small">
          The first {count(MAX_ROWS)} of {count(rows.length)} rows; the CSV file has all of them.
        </p>
      )}
    </>
  );
}

function cellText(cell: Cell, column: Column | undefined): string {
  if (cell === null) return "–";
  if (typeof cell === "string") return cell;
  return column?.format === undefined ? String(cell) : column.format(cell);
}
