/** What differs in the code, line beside line; on a phone one below the other. */
import { useMemo, useState } from "react";
import { plural } from "../../lib/format";
import { diffRows, folded, type Fold, type Row, type Side } from "./diff";

export function CodeDiff({ before, after }: { before: string; after: string }): React.JSX.Element {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  const shown = useMemo(() => folded(rows), [rows]);
  const changes = rows.filter((row) => row.kind !== "same").length;
  return (
    <section className="card stack" aria-label="Code">
      <h2>
        {changes === 0 ? "The code is the same" : "What differs in the code"}{" "}
        {changes > 0 && <span className="dim small">{plural(changes, "line")}</span>}
      </h2>
      <div className="diff" role="region" aria-label="Difference of the code" tabIndex={0}>
        {shown.map((each, index) =>
          each.kind === "fold" ? <Folded key={index} fold={each} /> : <Line key={index} row={each} />,
        )}
      </div>
    </section>
  );
}

function Folded({ fold }: { fold: Fold }): React.JSX.Element {
  const [isOpen, setOpen] = useState(false);
  if (isOpen)
    return (
      <>
        {fold.rows.map((row, index) => (
          <Line key={index} row={row} />
        ))}
      </>
    );
  return (
    <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
      Show {plural(fold.rows.length, "unchanged line")}
    </button>
  );
}

function Line({ row }: { row: Row }): React.JSX.Element {
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
