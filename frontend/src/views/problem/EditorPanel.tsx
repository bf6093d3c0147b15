/** The editor with the run bar, and below it the run. */
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { lazyImport } from "../../lib/lazyImport";
import { useStored, useTitle } from "../../lib/hooks";
import type { Dtype, GpuResponse, ProblemDetailResponse } from "../../lib/generated";
import { ACTIONS, actionForKey, type Action } from "./actions";
import type { EditorHandle } from "./Editor";
import { lineDiagnostics } from "./lineDiagnostics";
import { Notices } from "./Notices";
import { RunPanel } from "./RunPanel";
import { MAX_SOURCE_BYTES, RunBar } from "./RunBar";
import { tabTitle } from "./runText";
import { useDraft } from "./useDraft";
import { useNotification } from "./useNotification";
import { useQuote } from "./useQuote";
import { useRun } from "./useRun";

const Editor = lazy(lazyImport(() => import("./Editor")));

interface Props {
  problem: ProblemDetailResponse;
  gpus: readonly GpuResponse[];
  dtype: Dtype;
  onDtype: (dtype: string) => void;
  onCode: (code: string) => void;
  /** The line to scroll to; a new object scrolls again. */
  shownLine: { line: number } | null;
}

export function EditorPanel({ problem, gpus, dtype, onDtype, onCode, shownLine }: Props): React.JSX.Element {
  const { slug } = problem;
  const starter = problem.starters[dtype] ?? "";
  const draft = useDraft(slug, dtype, starter);
  const running = useRun(slug);
  const { run, progress, busy, start } = running;
  const enabled = gpus.filter((candidate) => candidate.enabled);
  const defaultGpu = enabled.find((candidate) => candidate.default) ?? enabled[0];
  const [gpu, setGpu] = useState(defaultGpu?.name ?? "");
  const [vim, setVim] = useStored("warmfront.vim", "no");
  const [editor, setEditor] = useState<EditorHandle | null>(null);
  const quote = useQuote(slug, gpu, busy, run?.id ?? "");
  const bytes = useMemo(() => new TextEncoder().encode(draft.code).length, [draft.code]);
  const verdict = progress?.verdict ?? null;
  useTitle(tabTitle(problem.title, progress));
  useNotification(problem.title, progress);
  useEffect(() => onCode(draft.code), [onCode, draft.code]);
  useEffect(() => editor?.showDiagnostics(verdict === null ? [] : lineDiagnostics(verdict)), [editor, verdict]);
  useEffect(() => {
    if (shownLine !== null) editor?.goTo(shownLine.line);
  }, [editor, shownLine]);

  // Without a quote the service decides.
  const rejected = quote !== null && quote.refusal !== null;
  const blocked = busy || rejected || gpu === "" || bytes === 0 || bytes > MAX_SOURCE_BYTES;
  const act = useCallback(
    (endpoint: Action) => {
      if (blocked) return;
      start({ solution_code: editor?.code() ?? "", problem: slug, gpu_type: gpu, dtype, endpoint });
    },
    [blocked, start, editor, slug, gpu, dtype],
  );
  useShortcuts(act);

  const replace = (code: string): void => editor?.replace(code);
  return (
    <div className="editor-panel">
      <div className="card editor-card">
        <RunBar
          gpus={gpus}
          gpu={gpu}
          onGpu={setGpu}
          dtypes={problem.dtypes}
          dtype={dtype}
          onDtype={onDtype}
          quote={quote}
          sourceBytes={bytes}
          busy={busy}
          cancelling={running.cancelling}
          onAction={act}
          onCancel={running.requestCancel}
        />
        <Notices
          other={draft.other}
          unsaved={draft.unsaved}
          error={running.error}
          onUseOther={(code) => (replace(code), draft.resolveConflict())}
          onKeepOwn={draft.resolveConflict}
        />
        <div className="editor-frame">
          <Suspense fallback={<pre className="editor-placeholder">{draft.code}</pre>}>
            <Editor
              ref={setEditor}
              initial={draft.initial}
              vim={vim === "yes"}
              onChange={draft.change}
              onAction={act}
            />
          </Suspense>
        </div>
        <div className="row small dim editor-foot">
          <label className="row check">
            <input type="checkbox" checked={vim === "yes"} onChange={(event) => setVim(event.target.checked ? "yes" : "no")} />
            Vim keys
          </label>
          <span className="shortcuts">
            {Object.values(ACTIONS).map(({ name, keys }) => (
              <span key={name}>
                <kbd>{keys.replaceAll("+", " ")}</kbd> {name}
              </span>
            ))}
          </span>
          <button className="button plain small" disabled={draft.code === starter} onClick={() => replace(starter)}>
            Reset to starter code
          </button>
        </div>
      </div>
      <RunPanel running={running} slug={slug} onLine={(line) => editor?.goTo(line)} />
    </div>
  );
}

/** The keyboard shortcuts outside the editor, which handles its own. */
function useShortcuts(act: (action: Action) => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const action = actionForKey(event);
      if (action === null || event.defaultPrevented) return;
      event.preventDefault();
      latest.current(action);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
