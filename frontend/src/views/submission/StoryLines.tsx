/** What happened, when, as a list. */
import { span } from "../../lib/format";
import type { StreamEvent } from "../../lib/types";
import { history } from "./history";

export function StoryLines({
  events,
  isOver,
}: {
  events: readonly StreamEvent[];
  isOver: boolean;
}): React.JSX.Element {
  const lines = history(events);
  if (lines.length === 0) return <p className="dim">Loading…</p>;
  return (
    <ol className="story-lines card">
      {lines.map((line, index) => (
        <li key={index} className={`story-line ${line.tone}`}>
          <span className="story-time dim">+{span(line.atS)}</span>
          <strong>{line.title}</strong>
          <span className="dim">{line.detail}</span>
        </li>
      ))}
      {!isOver && (
        <li className="story-line">
          <span className="story-time" />
          <span className="dim">It goes on…</span>
        </li>
      )}
    </ol>
  );
}
