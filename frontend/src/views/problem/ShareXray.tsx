/** Share the X-ray of the code in the editor: the service makes it again and stores it under a link. */
import { useState } from "react";
import { ApiError, shareXray } from "../../lib/api";
import type { Dtype } from "../../lib/generated";

interface Props {
  code: string;
  slug: string | null;
  dtype: Dtype | null;
}

export function ShareXray({ code, slug, dtype }: Props): React.JSX.Element {
  const [shared, setShared] = useState<{ link: string; code: string } | null>(null);
  const [state, setState] = useState<"idle" | "busy" | "copied">("idle");
  const [error, setError] = useState("");
  // The link belongs to the code that was shared; changed code needs another link.
  const link = shared?.code === code ? shared.link : null;
  const share = async (): Promise<void> => {
    setState("busy");
    setError("");
    try {
      const response = await shareXray({ solution_code: code, problem: slug, dtype });
      setShared({ link: response.link ?? "", code });
    } catch (failure) {
      setError(failure instanceof ApiError ? `${failure.message} ${failure.body.hint}` : String(failure));
    }
    setState("idle");
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link ?? "");
      setState("copied");
    } catch {
      setState("idle"); // browsers allow the clipboard only on secure origins; the field can be selected
    }
  };
  return (
    <div className="stack share-xray">
      {link === null ? (
        <button className="button small" disabled={state === "busy"} title="Everyone with the link sees the X-ray and the source" onClick={() => void share()}>
          {state === "busy" ? "Sharing…" : "Share this X-ray"}
        </button>
      ) : (
        <div className="row">
          <input className="grow" aria-label="Link to this X-ray" readOnly value={link} onFocus={(event) => event.target.select()} />
          <button className="button small" onClick={() => void copy()}>
            {state === "copied" ? "Link copied" : "Copy link"}
          </button>
        </div>
      )}
      {error !== "" && (
        <p className="note bad small" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
