/** Messages shown instead of a view: not found, key required, error, empty. Each offers a next step. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { ApiError, promptForKey } from "../lib/api";
import { useTitle } from "../lib/hooks";

export function MessagePage({ title, children }: { title: string; children: ReactNode }): React.JSX.Element {
  return (
    <div className="card message-page">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

/** An unknown address, or an object that does not exist. */
export function NotFound({ detail = "There is no page at this address." }: { detail?: string }): React.JSX.Element {
  useTitle("Not found");
  return (
    <MessagePage title="Not found">
      <p>{detail}</p>
      <p>
        <Link href="/problems">All problems</Link> · <Link href="/submissions">Your submissions</Link>
      </p>
    </MessagePage>
  );
}

/** Shown after the key dialog was dismissed, with a button that opens it again. */
function KeyRequired({ reason }: { reason: string }): React.JSX.Element {
  return (
    <MessagePage title="API key required">
      <p>{reason}</p>
      <button className="button" onClick={() => promptForKey(reason)}>
        Enter API key
      </button>
    </MessagePage>
  );
}

interface ErrorMessageProps {
  error: Error;
  onRetry?: () => void;
  retry?: string;
}

/** A failed request, inside a view. */
export function ErrorMessage({ error, onRetry, retry = "Try again" }: ErrorMessageProps): React.JSX.Element {
  if (error instanceof ApiError && error.body.status === 404) return <NotFound detail={error.message} />;
  if (error instanceof ApiError && error.body.status === 401) return <KeyRequired reason={error.message} />;
  const hint = error instanceof ApiError ? error.body.hint : "";
  return (
    <MessagePage title="Something went wrong">
      <p>{error.message}</p>
      {hint !== "" && <p className="dim">{hint}</p>}
      {onRetry !== undefined && (
        <button className="button" onClick={onRetry}>
          {retry}
        </button>
      )}
    </MessagePage>
  );
}

/** Shown in place of an empty list. */
export function EmptyState({ children }: { children: ReactNode }): React.JSX.Element {
  return <div className="card dim">{children}</div>;
}
