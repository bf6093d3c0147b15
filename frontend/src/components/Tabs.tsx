/** A tab list that follows the ARIA pattern: arrow keys move, one tab is in the tab order. The caller renders the panel with `panelProps`. */
import { useRef } from "react";

export interface Tab {
  id: string;
  name: React.ReactNode;
}

interface Props {
  label: string;
  tabs: readonly Tab[];
  current: string;
  onChange: (id: string) => void;
}

export function Tabs({ label, tabs, current, onChange }: Props): React.JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const index = tabs.findIndex((tab) => tab.id === current);
    const targets: Record<string, number> = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: tabs.length - 1 };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = tabs[(target + tabs.length) % tabs.length];
    if (next === undefined) return;
    onChange(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map(({ id, name }) => (
        <button
          key={id}
          id={`tab-${id}`}
          role="tab"
          aria-selected={id === current}
          aria-controls={`panel-${id}`}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

export function panelProps(id: string): { id: string; role: "tabpanel"; "aria-labelledby": string; tabIndex: 0 } {
  return { id: `panel-${id}`, role: "tabpanel", "aria-labelledby": `tab-${id}`, tabIndex: 0 };
}
