/** Asks for an API key where the service wants one. */
import { useEffect, useRef, useState } from "react";
import { currentKey, declineKey, setKey } from "../lib/api";
import { useLink } from "../lib/hooks";

export function KeyDialog(): React.JSX.Element {
  const { keyWanted } = useLink();
  const [value, setValue] = useState("");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (keyWanted !== null && dialog.current?.open === false) dialog.current.showModal();
    if (keyWanted === null) dialog.current?.close();
  }, [keyWanted]);
  const save = (event: React.SyntheticEvent): void => {
    event.preventDefault();
    setKey(value.trim());
    location.reload(); // every view asks anew; what was typed is kept
  };
  return (
    <dialog ref={dialog} aria-labelledby="key-title" onClose={declineKey}>
      <form className="stack" onSubmit={save}>
        <h2 id="key-title">This service wants an API key</h2>
        <p>
          {currentKey() === null ? "None is kept in this browser." : keyWanted} The operator makes one with{" "}
          <code>warmfront keys create</code>. It stays in this browser.
        </p>
        <label className="stack">
          <span>API key</span>
          <input
            type="password"
            autoComplete="off"
            placeholder="wf_…"
            pattern="\s*wf_[A-Za-z0-9_\-]+\s*"
            title="It begins with wf_"
            required
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
        <div className="row">
          <button className="button primary">Use this key</button>
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            Not now
          </button>
        </div>
      </form>
    </dialog>
  );
}
