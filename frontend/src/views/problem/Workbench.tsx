/** The editor with its bar, and below it the run: timeline and verdict. */
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { chunk } from "../../lib/chunks";
import { useStored, useTitle } from "../../lib/hooks";
import type { Gpu, ProblemDetail } from "../../lib/types";
import type { EditorHandle } from "./Editor";
import { marksOf } from "./marks";
import { Notices } from "./Notices";
import { Outcome } from "./Outcome";
import { MAX_SOURCE_BYTES, RunBar } from "./RunBar";
import { useDraft } from "./useDraft";
import { useNotification } from "./useNotification";
import { useOffer } from "./useOffer";
import { useRun } from "./useRun";
import { ACTIONS, actionOf, titleOf, type Action } from "./words";

const Editor = lazy(chunk(() => import("./Editor")));

interface Props {
  problem: ProblemDetail;
  gpus: readonly Gpu[];
  dtype: string;
  onDtype: (dtype: string) => void;
  onCode: (code: string) => void;
  /** A line to show; a new object shows it again. */
  shownLine: { line: number } | null;
}

export function Workbench({ problem, gpus, dtype, onDtype, onCode, shownLine }: Props): React.JSX.Element {
  const { slug } = problem;
  const starter = problem.starters[dtype] ?? "";
  const draft = useDraft(slug, dtype, starter);
  const running = useRun(slug);
  const { run, story, busy, start } = running;
  const usual = gpus.find((each) => each.default && each.enabled) ?? gpus.find((each) => each.enabled);
  const [gpu, setGpu] = useState(usual?.name ?? "");
  const [vim, setVim] = useStored("warmfront.vim", "no");
  const [editor, setEditor] = useState<EditorHandle | null>(null);
  const offer = useOffer(slug, gpu, busy, run?.id ?? "");
  const bytes = useMemo(() => new TextEncoder().encode(draft.code).length, [draft.code]);
  const ending = story?.ending ?? null;
  useTitle(titleOf(problem.title, story));
  useNotification(problem.title, ending);
  useEffect(() => onCode(draft.code), [onCode, draft.code]);
  useEffect(() => editor?.mark(ending === null ? [] : marksOf(ending)), [editor, ending]);
  useEffect(() => {
    if (shownLine !== null) editor?.goTo(shownLine.line);
  }, [editor, shownLine]);

  // While the quote is not in, the service decides.
  const refused = offer !== null && offer.refusal !== null;
  const blocked = busy || refused || gpu === "" || bytes === 0 || bytes > MAX_SOURCE_BYTES;
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
    <div className="workbench">
      <div className="card bench">
        <RunBar
          gpus={gpus}
          gpu={gpu}
          onGpu={setGpu}
          dtypes={problem.dtypes}
          dtype={dtype}
          onDtype={onDtype}
          offer={offer}
          sourceBytes={bytes}
          busy={busy}
          cancelling={running.cancelling}
          onAction={act}
          onCancel={running.stop}
        />
        <Notices
          other={draft.other}
          unsaved={draft.unsaved}
          refused={running.refused}
          onTheirs={(code) => (replace(code), draft.settle())}
          onMine={draft.settle}
        />
        <div className="editor-frame">
          <Suspense fallback={<pre className="editor-waiting">{draft.code}</pre>}>
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
            Back to the starter
          </button>
        </div>
      </div>
      <Outcome running={running} slug={slug} onLine={(line) => editor?.goTo(line)} />
    </div>
  );
}

/** The same keys outside the editor, which handles its own. */
function useShortcuts(act: (action: Action) => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const action = actionOf(event);
      if (action === null || event.defaultPrevented) return;
      event.preventDefault();
      latest.current(action);
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}
