/** A diff of two sources: side by side, or one below the other on a phone. */
import { useMemo, useState } from "react";
import { plural } from "../../lib/format";
import { diffRows, foldUnchanged, type Fold, type Row, type Side } from "./diff";

interface Props {
  before: string;
  after: string;
  title?: string;
}

export function CodeDiff({ before, after, title = "Changes in the source" }: Props): React.JSX.Element {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const shown = useMemo(() => foldUnchanged(rows), [rows]);
  const changes = rows.filter((row) => row.kind !== "same").length;
  return (
    <section className="card stack" aria-label="Source">
      <h2>
        {changes === 0 ? "The sources are identical" : title}{" "}
        {changes > 0 && <span className="dim small">{plural(changes, "line")}</span>}
      </h2>
      <div className="diff" role="region" aria-label="Source diff" tabIndex={0}>
        {shown.map((item, index) =>
          item.kind === "fold" ? <FoldedRows key={index} fold={item} /> : <DiffRow key={index} row={item} />,
        )}
      </div>
    </section>
  );
}

function FoldedRows({ fold }: { fold: Fold }): React.JSX.Element {
  const [isOpen, setOpen] = useState(false);
  if (isOpen)
    return (
      <>
        {fold.rows.map((row, index) => (
          <DiffRow key={index} row={row} />
        ))}
      </>
    );
  return (
    <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
      Show {plural(fold.rows.length, "unchanged line")}
    </button>
  );
}

function DiffRow({ row }: { row: Row }): React.JSX.Element {
  return (
    <div className={`diff-row diff-${row.kind}`}>
      <Cell side={row.left} sign={row.kind === "same" ? " " : "−"} name="left" />
      <Cell side={row.right} sign={row.kind === "same" ? " " : "+"} name="right" />
    </div>
  );
}

interface CellProps {
  side: Side | null;
  sign: string;
  name: "left" | "right";
}

function Cell({ side, sign, name }: CellProps): React.JSX.Element {
  if (side === null) return <div className={`diff-cell diff-${name} diff-none`} />;
  return (
    <div className={`diff-cell diff-${name}`}>
      <span className="diff-number">{side.line}</span>
      <span className="diff-sign">{sign}</span>
      <span className="diff-text">{side.text}</span>
    </div>
  );
}
