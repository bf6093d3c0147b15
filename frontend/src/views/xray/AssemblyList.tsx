/** The assembly of a kernel as a list. Rows have the color of their source line; arrow keys move between instructions. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { AssemblyBlock } from "../../lib/generated";
import { assemblyRows, type AssemblyRow } from "./mapping";

interface Props {
  kernel: string;
  blocks: readonly AssemblyBlock[];
  /** Color numbers by source line. */
  colors: ReadonlyMap<number, number>;
  /** The source line to show. */
  line: number;
  /** The source line of the row under the pointer or of the selected row. */
  onLine: (line: number | null) => void;
  /** A row was clicked, or Enter was pressed on it. */
  onOpen: (line: number) => void;
  onInstruction: (text: string | null) => void;
}

export function AssemblyList({ kernel, blocks, colors, line, onLine, onOpen, onInstruction }: Props): React.JSX.Element {
  const rows = useMemo(() => assemblyRows(blocks), [blocks]);
  const [selected, setSelected] = useState<number | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const first = rows.findIndex((row) => row.line === line);
  useEffect(() => scrollTo(list.current, first), [first]);
  useEffect(() => scrollTo(list.current, selected ?? -1), [selected]);
  const select = (index: number): void => {
    const row = rows[index];
    if (row === undefined) return;
    setSelected(index);
    onLine(row.line);
    onInstruction(row.isLabel ? null : row.text);
  };
  const moveByKey = (event: KeyboardEvent): void => {
    const from = selected ?? Math.max(0, first) - 1;
    if (event.key === "ArrowDown") select(Math.min(rows.length - 1, from + 1));
    else if (event.key === "ArrowUp") select(Math.max(0, from - 1));
    else if (event.key === "Enter" && selected !== null) open(rows[selected], onOpen);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={list}
      className="pane-rows"
      role="listbox"
      aria-label={`Assembly of ${kernel}; arrow keys move between instructions`}
      tabIndex={0}
      onKeyDown={moveByKey}
      onPointerLeave={() => onLine(null)}
      {...(selected === null ? {} : { "aria-activedescendant": `${id}-${selected}` })}
    >
      {rows.map((row, index) => (
        <div
          key={index}
          id={`${id}-${index}`}
          role="option"
          aria-selected={row.line !== null && row.line === line}
          className={rowClass(row, colors, line, index === selected)}
          data-line={row.line ?? undefined}
          onPointerEnter={() => select(index)}
          onClick={() => open(row, onOpen)}
        >
          <span className="pane-gutter">{row.line ?? ""}</span>
          <span className="pane-text">
            {!row.isLabel && row.depth > 0 && <span className="pane-loops">{"│ ".repeat(row.depth)}</span>}
            {row.text}
          </span>
        </div>
      ))}
    </div>
  );
}

function open(row: AssemblyRow | undefined, onOpen: (line: number) => void): void {
  if (row?.line !== undefined && row.line !== null) onOpen(row.line);
}

/** Scroll only the list, and only if the row is not visible. */
function scrollTo(list: HTMLElement | null, index: number): void {
  const row = list?.children[index];
  if (list === null || !(row instanceof HTMLElement)) return;
  const top = row.offsetTop;
  if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 24) list.scrollTop = top - list.clientHeight / 3;
}

function rowClass(row: AssemblyRow, colors: ReadonlyMap<number, number>, line: number, isSelected: boolean): string {
  const color = row.line === null ? undefined : colors.get(row.line);
  return [
    "pane-row",
    row.isLabel ? "pane-label" : "",
    row.line === null ? "" : "pane-mapped",
    color === undefined ? "" : `link-color link-${color}`,
    row.line !== null && row.line === line ? "pane-current" : "",
    isSelected ? "pane-selected" : "",
  ]
    .filter((name) => name !== "")
    .join(" ");
}
