/** The dialog that lists the keyboard shortcuts; `?` opens it. */
import { useEffect, useRef } from "react";
import { ACTIONS } from "./actions";

const OTHERS: readonly (readonly [keys: string, meaning: string])[] = [
  ["?", "Show this list (outside the editor)"],
  ["Esc, then Tab", "Leave the editor"],
  ["Tab, Shift+Tab", "In the editor: indent, unindent; before typing: move on"],
  ["Ctrl+Space", "Complete a HIP name"],
  ["F1", "In the editor: explain the name at the cursor"],
  ["Ctrl+F", "Search and replace"],
  ["Ctrl+Z, Ctrl+Y", "Undo, redo; also after Restore"],
  ["Ctrl+/", "Comment or uncomment the lines"],
  ["Alt+↑, Alt+↓", "Move the line"],
  ["← → ↑ ↓", "On a splitter: resize the panes; in the assembly: move between instructions"],
];

export function Shortcuts({ onClose }: { onClose: () => void }): React.JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const rows = [...Object.values(ACTIONS).map(({ keys, description }) => [keys, description] as const), ...OTHERS];
  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title" onClose={onClose}>
      <div className="stack">
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <table className="shortcut-table">
          <tbody>
            {rows.map(([keys, meaning]) => (
              <tr key={keys}>
                <th scope="row">
                  <kbd>{keys}</kbd>
                </th>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="dim small">On a Mac, use ⌘ instead of Ctrl.</p>
        <button className="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
