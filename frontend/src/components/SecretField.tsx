/** A secret that is shown once, such as a key or a link, with a button that copies it. */
import { useState } from "react";

export function SecretField({ label, value }: { label: string; value: string }): React.JSX.Element {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setState("copied");
    } catch {
      setState("failed"); // browsers allow the clipboard only on secure origins
    }
  };
  return (
    <div className="note good secret-field">
      <label className="field">
        <span>{label}</span>
        <input className="secret" readOnly value={value} onFocus={(event) => event.target.select()} />
      </label>
      <button type="button" className="button" onClick={() => void copy()}>
        {state === "copied" ? "Copied" : state === "failed" ? "Press Ctrl+C in the field" : "Copy"}
      </button>
    </div>
  );
}
