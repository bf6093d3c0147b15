/** The button that begins a sign-in, with the error if it cannot begin. */
import { useState } from "react";
import { ApiError } from "../lib/api";
import { signIn, useSession } from "../lib/session";

interface Props {
  /** The path to return to; the current one by default. */
  returnTo?: string;
  invitation?: string | null;
}

export function SignInButton({ returnTo, invitation = null }: Props): React.JSX.Element | null {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const name = session?.sign_in_name ?? null;
  if (name === null) return null;
  const begin = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await signIn(returnTo ?? `${location.pathname}${location.search}`, invitation);
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" className="button primary" disabled={busy} onClick={() => void begin()}>
        {busy ? "Opening…" : `Sign in with ${name}`}
      </button>
      {error !== null && (
        <div className="note bad" role="alert">
          <p>{error.message}</p>
          {error instanceof ApiError && error.body.hint !== "" && <p>{error.body.hint}</p>}
        </div>
      )}
    </>
  );
}
