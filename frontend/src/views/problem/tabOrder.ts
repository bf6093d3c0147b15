/**
 * The Tab key in the editor. After entering it with Tab, another Tab moves on, so that tabbing through the page does not indent
 * the code. After typing or a click, Tab indents, and Escape before Tab leaves.
 */
import type { Extension } from "@codemirror/state";
import { ViewPlugin } from "@codemirror/view";

/** What Tab does in the editor; null without focus. */
export type TabMode = "leaves" | "indents" | null;

export function tabOrder(onMode: (mode: TabMode) => void): Extension {
  return ViewPlugin.define((view) => {
    let byTab = false;
    const onKeyDown = (event: KeyboardEvent): void => {
      byTab = event.key === "Tab" || (byTab && event.key === "Shift");
    };
    const onPointerDown = (event: PointerEvent): void => {
      byTab = false;
      if (view.hasFocus && event.target instanceof Node && view.dom.contains(event.target)) set("indents");
    };
    const set = (mode: TabMode): void => {
      view.setTabFocusMode(mode === "leaves");
      onMode(mode);
    };
    const onFocus = (): void => set(byTab ? "leaves" : "indents");
    const onBlur = (): void => onMode(null);
    window.addEventListener("keydown", onKeyDown, true);
    window.addEventListener("pointerdown", onPointerDown, true);
    view.contentDOM.addEventListener("focus", onFocus);
    view.contentDOM.addEventListener("blur", onBlur);
    return {
      update: (update) => {
        if (update.docChanged && update.transactions.some((transaction) => transaction.isUserEvent("input") || transaction.isUserEvent("delete"))) {
          set("indents");
        }
      },
      destroy: () => {
        window.removeEventListener("keydown", onKeyDown, true);
        window.removeEventListener("pointerdown", onPointerDown, true);
        view.contentDOM.removeEventListener("focus", onFocus);
        view.contentDOM.removeEventListener("blur", onBlur);
      },
    };
  });
}
