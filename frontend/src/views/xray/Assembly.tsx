/** Source and assembly side by side. Pointing at either marks what belongs to it in the other; so do the arrow keys. */
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { instructionsByLine, neighbour, rows, type Piece } from "./mapping";

interface Props {
  code: string;
  pieces: readonly Piece[];
  kernel: string;
  /** A line to show first, such as a finding's. */
  line: number | null;
}

export function Assembly({ code, pieces, kernel, line }: Props) {
  const [marked, setMarked] = useState<number | null>(line);
  const [origin, setOrigin] = useState<"source" | "isa">("isa");
  const counts = useMemo(() => instructionsByLine(pieces), [pieces]);
  const listing = useMemo(() => rows(pieces), [pieces]);
  const lines = useMemo(() => code.split("\n"), [code]);
  const [asked, setAsked] = useState(line);
  if (asked !== line) {
    setAsked(line);
    setMarked(line);
    setOrigin("isa");
  }
  const point = (from: "source" | "isa", at: number | null): void => {
    setOrigin(from);
    setMarked(at);
  };
  const walk = (from: "source" | "isa") => (event: KeyboardEvent) => {
    const direction = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : null;
    if (direction === null) return;
    event.preventDefault();
    // Both are walked by source lines; a pane that has the focus follows its own mark too.
    setOrigin(from);
    setMarked(neighbour([...counts.keys()], marked, direction));
  };
  const both = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (line !== null) both.current?.scrollIntoView({ block: "nearest" });
  }, [line]);
  const first = listing.findIndex((row) => row.line === marked);
  return (
    <div className="assembly" ref={both}>
      <Pane
        title="Source"
        label={`Source of ${kernel}; arrow keys walk the lines that became instructions`}
        active={marked}
        follow={origin === "isa"}
        onKeyDown={walk("source")}
        items={lines.map((text, index) => ({
          key: index,
          gutter: String(index + 1),
          text,
          line: counts.has(index + 1) ? index + 1 : null,
          note: counts.get(index + 1),
          anchor: index + 1 === marked,
          depth: 0,
        }))}
        onPoint={(at) => point("source", at)}
      />
      <Pane
        title="Assembly"
        label={`Assembly of ${kernel}; arrow keys walk the source lines`}
        active={marked}
        follow={origin === "source"}
        onKeyDown={walk("isa")}
        items={listing.map((row, index) => ({
          key: index,
          gutter: row.line === null ? "" : String(row.line),
          text: row.text,
          line: row.line,
          note: undefined,
          anchor: index === first,
          depth: row.isLabel ? -1 : row.depth,
        }))}
        onPoint={(at) => point("isa", at)}
      />
    </div>
  );
}

interface Item {
  key: number;
  gutter: string;
  text: string;
  line: number | null;
  /** Instructions that a source line became. */
  note: number | undefined;
  /** The one that is scrolled to and read out. */
  anchor: boolean;
  /** Loops around it; −1 for a label. */
  depth: number;
}

interface PaneProps {
  title: string;
  label: string;
  active: number | null;
  follow: boolean;
  items: readonly Item[];
  onKeyDown: (event: KeyboardEvent) => void;
  onPoint: (line: number | null) => void;
}

function Pane({ title, label, active, follow, items, onKeyDown, onPoint }: PaneProps) {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const box = list.current;
    const anchor = box?.querySelector<HTMLElement>("[data-anchor]");
    if (!box || !anchor || (!follow && document.activeElement !== box)) return;
    const top = anchor.offsetTop;
    // The pane alone scrolls: scrollIntoView would move the page under the pointer.
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 24)
      box.scrollTop = top - box.clientHeight / 3;
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
        {items.map((item) => (
          <div
            key={item.key}
            id={`${id}-${item.key}`}
            role="option"
            aria-selected={item.line !== null && item.line === active}
            className={rowClass(item, active)}
            data-anchor={item.anchor ? "" : undefined}
            data-line={item.line ?? undefined}
            onPointerEnter={() => item.line !== null && onPoint(item.line)}
            onClick={() => item.line !== null && onPoint(item.line)}
          >
            <span className="pane-gutter">{item.gutter}</span>
            <span className="pane-text">
              {item.depth > 0 && <span className="pane-loops">{"│ ".repeat(item.depth)}</span>}
              {item.text === "" ? " " : item.text}
            </span>
            {item.note !== undefined && <span className="pane-note">{item.note}</span>}
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
