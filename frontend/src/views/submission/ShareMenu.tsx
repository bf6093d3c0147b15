/** Who may open a submission, and its link. */
import { useState } from "react";
import { ApiError, shareOf, shareSubmission } from "../../lib/api";
import type { Visibility } from "../../lib/generated";
import { useQuery } from "../../lib/hooks";

const TEXTS: Record<Visibility, string> = {
  private: "Only you and operators can open it.",
  unlisted: "Everyone who has the link can open it, without an account.",
  public: "Everyone can open it, and it is listed in Shared results.",
};

export function ShareMenu({ id }: { id: string }): React.JSX.Element {
  const share = useQuery(`share ${id}`, () => shareOf(id));
  const [changed, setChanged] = useState<typeof share.data>(null);
  const [state, setState] = useState<"" | "copied" | "failed">("");
  const [error, setError] = useState<Error | null>(null);
  const current = changed ?? share.data;
  const visibility = current?.visibility ?? "private";
  const link = visibility === "private" ? null : (current?.link ?? null);
  const change = async (visibility: Visibility): Promise<void> => {
    setError(null);
    setState("");
    try {
      setChanged(await shareSubmission(id, visibility));
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link ?? "");
      setState("copied");
    } catch {
      setState("failed"); // browsers allow the clipboard only on secure origins
    }
  };
  return (
    <section className="card stack share-menu" aria-label="Sharing">
      <div className="row">
        <label className="row">
          Visible to
          <select
            value={visibility}
            disabled={current === null}
            onChange={(event) => void change(event.target.value as Visibility)}
          >
            <option value="private">Only me</option>
            <option value="unlisted">Everyone with the link</option>
            <option value="public">Everyone (listed)</option>
          </select>
        </label>
        <span className="dim small grow">{TEXTS[visibility]}</span>
        {link !== null && (
          <button className="button" onClick={() => void copy()}>
            {state === "copied" ? "Link copied" : "Copy link"}
          </button>
        )}
      </div>
      {link !== null && (
        <>
          <label className="field">
            <span className="dim small">Link</span>
            <input className="secret" readOnly value={link} onFocus={(event) => event.target.select()} />
          </label>
          <label className="field">
            <span className="dim small">Embed</span>
            <input
              className="secret"
              readOnly
              value={`<iframe src="${current?.embed_link ?? ""}" width="720" height="480" title="Warmfront"></iframe>`}
              onFocus={(event) => event.target.select()}
            />
          </label>
        </>
      )}
      {error !== null && (
        <p className="note bad" role="alert">
          {error.message} {error instanceof ApiError ? error.body.hint : ""}
        </p>
      )}
      <span className="hidden" role="status">
        {state === "copied" ? "Link copied" : ""}
      </span>
    </section>
  );
}
