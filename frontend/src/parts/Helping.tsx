/** Pages for when there is nothing to show: each ends with the next step. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Refused, wantKey } from "../lib/api";
import { useTitle } from "../lib/hooks";

export function Helping({ title, children }: { title: string; children: ReactNode }): React.JSX.Element {
  return (
    <div className="card helping">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** An address that leads nowhere. */
export function Lost({ what = "There is no page at this address." }: { what?: string }): React.JSX.Element {
  useTitle("Not found");
  return (
    <Helping title="Not found">
      <p>{what}</p>
      <p>
        <Link href="/problems">All problems</Link> · <Link href="/submissions">Your submissions</Link>
      </p>
    </Helping>
  );
}

/** Whoever did not want to enter a key at first finds the way back here. */
function Locked({ why }: { why: string }): React.JSX.Element {
  return (
    <Helping title="A key is needed">
      <p>{why}</p>
      <button className="button" onClick={() => wantKey(why)}>
        Enter a key
      </button>
    </Helping>
  );
}

interface FailureProps {
  error: Error;
  onRetry?: () => void;
  retry?: string;
}

/** A request that failed, inside a view. */
export function Failure({ error, onRetry, retry = "Try again" }: FailureProps): React.JSX.Element {
  if (error instanceof Refused && error.refusal.status === 404) return <Lost what={error.message} />;
  if (error instanceof Refused && error.refusal.status === 401) return <Locked why={error.message} />;
  const hint = error instanceof Refused ? error.refusal.hint : "";
  return (
    <Helping title="That did not work">
      <p>{error.message}</p>
      {hint !== "" && <p className="dim">{hint}</p>}
      {onRetry !== undefined && (
        <button className="button" onClick={onRetry}>
          {retry}
        </button>
      )}
    </Helping>
  );
}

/** A list with nothing in it, and what would change that. */
export function Empty({ children }: { children: ReactNode }): React.JSX.Element {
  return <div className="card dim">{children}</div>;
}
