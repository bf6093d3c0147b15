/** The dialog that asks for a sign-in or an API key. */
import { useEffect, useRef, useState } from "react";
import { currentKey, dismissKeyPrompt, setKey } from "../lib/api";
import { useConnection } from "../lib/hooks";
import { pageUser } from "../lib/pageUser";
import { useSession, usesSignIn } from "../lib/session";
import { SignInButton } from "./SignInButton";

export function KeyDialog(): React.JSX.Element | null {
  const { keyPrompt } = useConnection();
  const session = useSession();
  const [wantsKey, setWantsKey] = useState(false);
  const [value, setValue] = useState("");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (keyPrompt !== null && dialog.current?.open === false) dialog.current.showModal();
    if (keyPrompt === null) dialog.current?.close();
  }, [keyPrompt]);
  const save = (event: React.SyntheticEvent): void => {
    event.preventDefault();
    setKey(value.trim());
    location.reload(); // every view fetches its data again; drafts are kept
  };
  if (usesSignIn(session) && pageUser() !== null) return null; // the banner of the shell, which does not interrupt typing
  if (usesSignIn(session) && !wantsKey) {
    return (
      <dialog ref={dialog} aria-labelledby="key-title" onClose={dismissKeyPrompt}>
        <div className="stack">
          <h2 id="key-title">Sign in</h2>
          <p>This service requires an account or an API key.</p>
          <SignInButton />
          <div className="row">
            <button type="button" className="button" onClick={() => setWantsKey(true)}>
              Use an API key
            </button>
            <button type="button" className="button" onClick={() => dialog.current?.close()}>
              Not now
            </button>
          </div>
        </div>
      </dialog>
    );
  }
  return (
    <dialog ref={dialog} aria-labelledby="key-title" onClose={dismissKeyPrompt}>
      <form className="stack" onSubmit={save}>
        <h2 id="key-title">API key required</h2>
        <p>
          {currentKey() === null ? "This service requires an API key." : keyPrompt} An operator can create one with{" "}
          <code>warmfront keys create</code>. The key is stored in this browser only.
        </p>
        <label className="stack">
          <span>API key</span>
          <input
            type="password"
            autoComplete="off"
            placeholder="wf_…"
            pattern="\s*wf_[A-Za-z0-9_\-]+\s*"
            title="An API key starts with wf_"
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
