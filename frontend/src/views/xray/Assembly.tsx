/** Source and assembly side by side. Hovering over a line, or moving with the arrow keys, highlights the matching lines in the other pane. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { AssemblyBlock } from "../../lib/generated";
import { InstructionHelp } from "./InstructionHelp";
import { assemblyRows, instructionsByLine, nextLine } from "./mapping";

interface Props {
  code: string;
  blocks: readonly AssemblyBlock[];
  kernel: string;
  /** The line to show, such as that of a finding. */
  line: number | null;
}

export function Assembly({ code, blocks, kernel, line }: Props) {
  const [marked, setMarked] = useState<number | null>(line);
  const [origin, setOrigin] = useState<"source" | "isa">("isa");
  const [instruction, setInstruction] = useState<string | null>(null);
  const counts = useMemo(() => instructionsByLine(blocks), [blocks]);
  const assembly = useMemo(() => assemblyRows(blocks), [blocks]);
  const lines = useMemo(() => code.split("\n"), [code]);
  const [requested, setRequested] = useState(line);
  if (requested !== line) {
    setRequested(line);
    setMarked(line);
    setOrigin("isa");
  }
  const highlight = (from: "source" | "isa", target: number | null): void => {
    setOrigin(from);
    setMarked(target);
  };
  const moveByKey = (from: "source" | "isa") => (event: KeyboardEvent) => {
    const direction = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : null;
    if (direction === null) return;
    event.preventDefault();
    // Both panes move by source lines; the focused pane also scrolls to its own highlight.
    setOrigin(from);
    const next = nextLine([...counts.keys()], marked, direction);
    setMarked(next);
    setInstruction(assembly.find((row) => row.line === next && !row.isLabel)?.text ?? null);
  };
  const panes = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (line !== null) panes.current?.scrollIntoView({ block: "nearest" });
  }, [line]);
  const first = assembly.findIndex((row) => row.line === marked);
  return (
    <div className="assembly" ref={panes}>
      <Pane
        title="Source"
        label={`Source of ${kernel}; arrow keys move between the lines with instructions`}
        active={marked}
        follow={origin === "isa"}
        onKeyDown={moveByKey("source")}
        items={lines.map((text, index) => ({
          key: index,
          gutter: String(index + 1),
          text,
          line: counts.has(index + 1) ? index + 1 : null,
          instructions: counts.get(index + 1),
          anchor: index + 1 === marked,
          depth: 0,
        }))}
        onHighlight={(target) => highlight("source", target)}
      />
      <Pane
        title="Assembly"
        label={`Assembly of ${kernel}; arrow keys move between source lines`}
        active={marked}
        follow={origin === "source"}
        onKeyDown={moveByKey("isa")}
        items={assembly.map((row, index) => ({
          key: index,
          gutter: row.line === null ? "" : String(row.line),
          text: row.text,
          line: row.line,
          instructions: undefined,
          anchor: index === first,
          depth: row.isLabel ? -1 : row.depth,
        }))}
        onHighlight={(target) => highlight("isa", target)}
        onRow={(index) => {
          const row = assembly[index];
          setInstruction(row === undefined || row.isLabel ? null : row.text);
        }}
      />
      <InstructionHelp instruction={instruction} />
    </div>
  );
}

interface Item {
  key: number;
  gutter: string;
  text: string;
  line: number | null;
  /** Number of instructions of a source line. */
  instructions: number | undefined;
  /** The row to scroll to, and the active descendant for screen readers. */
  anchor: boolean;
  /** Depth of loop nesting; −1 for a label. */
  depth: number;
}

interface PaneProps {
  title: string;
  label: string;
  active: number | null;
  follow: boolean;
  items: readonly Item[];
  onKeyDown: (event: KeyboardEvent) => void;
  onHighlight: (line: number | null) => void;
  /** The pointer is on the row with this index. */
  onRow?: (index: number) => void;
}

function Pane({ title, label, active, follow, items, onKeyDown, onHighlight, onRow }: PaneProps) {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const pane = list.current;
    const anchor = pane?.querySelector<HTMLElement>("[data-anchor]");
    if (!pane || !anchor || (!follow && document.activeElement !== pane)) return;
    const top = anchor.offsetTop;
    // Scroll only the pane: scrollIntoView would move the page under the pointer.
    if (top < pane.scrollTop || top > pane.scrollTop + pane.clientHeight - 24)
      pane.scrollTop = top - pane.clientHeight / 3;
  }, [active, follow]);
  const anchored = items.find((item) => item.anchor);
  return (
    <section className="pane">
      <h3 id={`${id}-title`}>{title}</h3>
      <div
        ref={list}
        className="pane-rows"
        role="listbox"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        {...(anchored ? { "aria-activedescendant": `${id}-${anchored.key}` } : {})}
      >
        {items.map((item, index) => (
          <div
            key={item.key}
            id={`${id}-${item.key}`}
            role="option"
            aria-selected={item.line !== null && item.line === active}
            className={rowClass(item, active)}
            data-anchor={item.anchor ? "" : undefined}
            data-line={item.line ?? undefined}
            onPointerEnter={() => {
              onRow?.(index);
              if (item.line !== null) onHighlight(item.line);
            }}
            onClick={() => item.line !== null && onHighlight(item.line)}
          >
            <span className="pane-gutter">{item.gutter}</span>
            <span className="pane-text">
              {item.depth > 0 && <span className="pane-loops">{"│ ".repeat(item.depth)}</span>}
              {item.text === "" ? " " : item.text}
            </span>
            {item.instructions !== undefined && <span className="pane-note">{item.instructions}</span>}
          </div>
        ))}
      </div>
    </section>
  );
}

function rowClass(item: Item, active: number | null): string {
  const names = ["pane-row"];
  if (item.line !== null) names.push("pane-mapped");
  if (item.line !== null && item.line === active) names.push("pane-marked");
  if (item.depth === -1) names.push("pane-label");
  return names.join(" ");
}
