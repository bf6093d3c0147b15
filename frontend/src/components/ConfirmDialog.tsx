/** A modal dialog that asks before an action, and says what it saves or costs. It closes when the action has succeeded. */
import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { ApiError } from "../lib/api";

interface Props {
  title: string;
  /** The text of the button that confirms. */
  confirm: string;
  /** The text of the button that closes the dialog. */
  dismiss?: string;
  danger?: boolean;
  /** Whether the action can be confirmed now. */
  ready?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
}

export function ConfirmDialog({ title, confirm, dismiss = "Cancel", danger = false, ready = true, onConfirm, onClose, children }: Props): React.JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  const act = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(errorText(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <form className="stack" onSubmit={act}>
        <h2 id={titleId}>{title}</h2>
        {children}
        {failure !== null && (
          <div className="note bad" role="alert">
            {failure}
          </div>
        )}
        <div className="row">
          <button className={`button ${danger ? "danger" : "primary"}`} disabled={busy || !ready}>
            {confirm}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {dismiss}
          </button>
        </div>
      </form>
    </dialog>
  );
}

export function errorText(error: unknown): string {
  if (error instanceof ApiError) return [error.message, error.body.hint].filter((text) => text !== "").join(" ");
  return error instanceof Error ? error.message : "The request failed.";
}
