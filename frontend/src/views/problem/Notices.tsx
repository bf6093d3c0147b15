/** What its author must know before typing on. */
import type { Refused } from "../../lib/api";

interface Props {
  other: string | null;
  unsaved: boolean;
  refused: Refused | null;
  onTheirs: (code: string) => void;
  onMine: () => void;
}

export function Notices({ other, unsaved, refused, onTheirs, onMine }: Props): React.JSX.Element | null {
  if (other === null && !unsaved && refused === null) return null;
  return (
    <div className="notices stack">
      {other !== null && (
        <div className="note warn row" role="alert">
          <span className="grow">This problem was edited in another tab. What you type here is kept for this tab alone.</span>
          <button className="button" onClick={() => onTheirs(other)}>
            Take that version
          </button>
          <button className="button" onClick={onMine}>
            Keep this one
          </button>
        </div>
      )}
      {unsaved && (
        <p className="note warn" role="alert">
          This browser keeps no more text: the code is lost with a reload. Copy it to a file.
        </p>
      )}
      {refused !== null && (
        <div className="note bad" role="alert">
          <p>{refused.refusal.detail}</p>
          <p className="dim">{refused.refusal.hint}</p>
        </div>
      )}
    </div>
  );
}
