/** The event log of a submission. */
import { span } from "../../lib/format";
import type { SubmissionEvent } from "../../lib/generated";
import { eventLines } from "./eventLines";

export function EventLog({
  events,
  ended,
}: {
  events: readonly SubmissionEvent[];
  ended: boolean;
}): React.JSX.Element {
  const lines = eventLines(events);
  if (lines.length === 0) return <p className="dim">Loading…</p>;
  return (
    <ol className="event-log card">
      {lines.map((line, index) => (
        <li key={index} className={`event-line ${line.tone}`}>
          <span className="event-time dim">+{span(line.atS)}</span>
          <strong>{line.title}</strong>
          <span className="dim">{line.detail}</span>
        </li>
      ))}
      {!ended && (
        <li className="event-line">
          <span className="event-time" />
          <span className="dim">In progress…</span>
        </li>
      )}
    </ol>
  );
}
