/** Notices above the editor: an edit in another tab, full storage, a rejected request. */
import type { ApiError } from "../../lib/api";

interface Props {
  other: string | null;
  unsaved: boolean;
  error: ApiError | null;
  onUseOther: (code: string) => void;
  onKeepOwn: () => void;
}

export function Notices({ other, unsaved, error, onUseOther, onKeepOwn }: Props): React.JSX.Element | null {
  if (other === null && !unsaved && error === null) return null;
  return (
    <div className="notices stack">
      {other !== null && (
        <div className="note warn row" role="alert">
          <span className="grow">This problem was edited in another tab. Changes made here are saved for this tab only.</span>
          <button className="button" onClick={() => onUseOther(other)}>
            Use the other version
          </button>
          <button className="button" onClick={onKeepOwn}>
            Keep this version
          </button>
        </div>
      )}
      {unsaved && (
        <p className="note warn" role="alert">
          Browser storage is full or blocked: reloading the page loses the code. Copy it to a file.
        </p>
      )}
      {error !== null && (
        <div className="note bad" role="alert">
          <p>{error.body.detail}</p>
          <p className="dim">{error.body.hint}</p>
        </div>
      )}
    </div>
  );
}
