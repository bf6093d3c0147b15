/** The keyboard shortcuts outside the editor, which handles its own. */
import { useEffect, useRef } from "react";
import { actionForKey, type Action } from "./actions";

export function useShortcutKeys(act: (action: Action) => void, showShortcuts: () => void): void {
  const latest = useRef({ act, showShortcuts });
  useEffect(() => {
    latest.current = { act, showShortcuts };
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      const action = actionForKey(event);
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, select, textarea, .cm-editor") !== null;
      if (action !== null) latest.current.act(action);
      else if (event.key === "?" && !isTyping) latest.current.showShortcuts();
      else return;
      event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
