/** A table of rows that scrolls by itself. On a phone, each row is a card with a line per column. */
import type { ReactNode } from "react";
import "./dataTable.css";

export interface Column<Row> {
  /** The heading. */
  name: string;
  cell: (row: Row) => ReactNode;
  /** Amounts and counts are right-aligned. */
  number?: boolean;
  /** Ids and times are not wrapped. */
  nowrap?: boolean;
  /** For buttons: the heading is only for screen readers. */
  actions?: boolean;
  /** On a phone, the cell needs no name and gets the whole line. */
  unlabeled?: boolean;
}

interface Props<Row> {
  /** The name of the table, for screen readers. */
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  rowKey: (row: Row) => string | number;
  /** For tests. */
  testId?: string;
}

export function DataTable<Row>({ label, columns, rows, rowKey, testId }: Props<Row>): React.JSX.Element {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      {/* The roles are explicit because browsers drop those of tables whose layout is changed, as on a phone. */}
      <table className="data-table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, number, actions }) => (
              <th key={name} role="columnheader" scope="col" className={number === true ? "number" : undefined}>
                {actions === true ? <span className="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={rowKey(row)} role="row" data-testid={testId}>
              {columns.map(({ name, cell, number, nowrap, actions, unlabeled }) => (
                <td key={name} role="cell" className={classes({ number, nowrap, actions, unlabeled })} data-label={name}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classes(flags: Record<string, boolean | undefined>): string {
  return Object.keys(flags)
    .filter((name) => flags[name] === true)
    .join(" ");
}
