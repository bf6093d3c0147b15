/** The editor with the run bar above it and the status line below. */
import { lazy, Suspense, useState } from "react";
import { lazyImport } from "../../lib/lazyImport";
import { useStored } from "../../lib/hooks";
import type { Action } from "./actions";
import type { EditorHandle } from "./Editor";
import { StatusLine } from "./StatusLine";
import type { TabMode } from "./tabOrder";
import type { DraftState } from "./useDraft";
import type { LiveXray } from "./useLiveXray";

const Editor = lazy(lazyImport(() => import("./Editor")));

interface Props {
  draft: DraftState;
  starter: string;
  live: LiveXray;
  cursor: number;
  editor: EditorHandle | null;
  onEditor: (editor: EditorHandle | null) => void;
  onCursor: (line: number) => void;
  onAction: (action: Action) => void;
  onShortcuts: () => void;
  onXray: () => void;
  /** The run bar and notices. */
  children: React.ReactNode;
}

export function EditorPane({
  draft,
  starter,
  live,
  cursor,
  editor,
  onEditor,
  onCursor,
  onAction,
  onShortcuts,
  onXray,
  children,
}: Props): React.JSX.Element {
  const [vim, setVim] = useStored("warmfront.vim", "no");
  const [tabMode, setTabMode] = useState<TabMode>(null);
  return (
    <section className="card editor-card" aria-label="Editor" data-tour="editor">
      {children}
      <div className="editor-frame">
        <Suspense fallback={<pre className="editor-placeholder">{draft.code}</pre>}>
          <Editor
            ref={onEditor}
            initial={draft.initial}
            vim={vim === "yes"}
            onChange={draft.change}
            onAction={onAction}
            onCursor={onCursor}
            onTabMode={setTabMode}
          />
        </Suspense>
      </div>
      <div className="editor-foot-frame">
        <div className="row small dim editor-foot">
          <StatusLine live={live} code={draft.code} cursor={cursor} onOpen={onXray} />
          <span className={`tab-hint ${tabMode === null ? "invisible" : ""}`} aria-hidden="true">
            {tabMode === "leaves" ? (
              <>
                <kbd>Tab</kbd> leaves the editor, until you type
              </>
            ) : (
              <>
                <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the editor
              </>
            )}
          </span>
          <label className="row check">
            <input type="checkbox" checked={vim === "yes"} onChange={(event) => setVim(event.target.checked ? "yes" : "no")} />
            Vim keys
          </label>
          <button
            className="button plain small"
            title="Replace the code with the starter code; undo restores your code"
            disabled={draft.code === starter}
            onClick={() => editor?.replace(starter)}
          >
            Reset
          </button>
          <button className="button plain small" aria-keyshortcuts="?" onClick={onShortcuts}>
            Shortcuts <kbd>?</kbd>
          </button>
        </div>
      </div>
    </section>
  );
}
