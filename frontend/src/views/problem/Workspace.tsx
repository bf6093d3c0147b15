/** The workspace of a problem: statement, editor and dock in three panes whose sizes are stored in the browser. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useMediaQuery, useStored, useTitle } from "../../lib/hooks";
import type { Dtype, GpuResponse, ProblemDetailResponse } from "../../lib/generated";
import type { Action } from "./actions";
import { Dock, type DockTab } from "./Dock";
import type { EditorHandle } from "./Editor";
import { EditorPane } from "./EditorPane";
import { lineDiagnostics } from "./lineDiagnostics";
import { Notices } from "./Notices";
import { parseCases } from "./ownCases";
import { parseSizes, resize, type PaneName } from "./panes";
import { MAX_SOURCE_BYTES, RunBar } from "./RunBar";
import { tabTitle } from "./runText";
import { Shortcuts } from "./Shortcuts";
import { Splitter } from "./Splitter";
import { Statement } from "./Statement";
import { useDraft } from "./useDraft";
import { useLiveXray } from "./useLiveXray";
import { useNotification } from "./useNotification";
import { useQuote } from "./useQuote";
import { useRun, type RunState } from "./useRun";
import { useShortcutKeys } from "./useShortcutKeys";
import { xrayDiagnostics } from "./xrayStatus";

/** The width from which the dock is beside the editor; the same as in workspace.css. */
const THREE_COLUMNS = "(width >= 1240px)";

interface Props {
  problem: ProblemDetailResponse;
  gpus: readonly GpuResponse[];
  dtype: Dtype;
  onDtype: (dtype: string) => void;
  /** The code of a submission to open in the editor. */
  opened: string | null;
  /** Called when that code is in the editor. */
  onOpened: () => void;
}

export function Workspace({ problem, gpus, dtype, onDtype, opened, onOpened }: Props): React.JSX.Element {
  const { slug } = problem;
  const starter = problem.starters[dtype] ?? "";
  const draft = useDraft(slug, dtype, starter);
  const running = useRun(slug);
  const { run, progress, busy, start } = running;
  const enabled = gpus.filter((candidate) => candidate.enabled);
  const defaultGpu = enabled.find((candidate) => candidate.default) ?? enabled[0];
  const [gpu, setGpu] = useState(defaultGpu?.name ?? "");
  const [editor, setEditor] = useState<EditorHandle | null>(null);
  const [cursor, setCursor] = useState(1);
  const [tab, setTab] = useState<DockTab>("results");
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const [storedCases, storeCases] = useStored(`warmfront.cases.${slug}.${dtype}`, "[]");
  const [allCases, setAllCases] = useStored("warmfront.allCases", "no");
  const ownCases = useMemo(() => parseCases(storedCases), [storedCases]);
  const quote = useQuote(slug, gpu, busy, run?.id ?? "");
  const bytes = useMemo(() => new TextEncoder().encode(draft.code).length, [draft.code]);
  const needsReport = tab === "xray" || tab === "assembly";
  const live = useLiveXray({
    code: draft.code,
    slug,
    dtype,
    wanted: draft.code.trim() !== "" && bytes <= MAX_SOURCE_BYTES && (needsReport || draft.code !== starter),
    assembly: needsReport,
    paused: busy && progress?.xray === null,
  });
  useTitle(tabTitle(problem.title, progress));
  useNotification(problem.title, progress);
  useMarks(editor, running, live.result);
  const showsOpened = useRef(onOpened);
  useEffect(() => {
    showsOpened.current = onOpened;
  });
  useEffect(() => {
    if (editor === null || opened === null) return;
    editor.replace(opened);
    showsOpened.current();
  }, [editor, opened]);

  // Without a quote the service decides.
  const rejected = quote !== null && quote.refusal !== null;
  const blocked = busy || rejected || gpu === "" || bytes === 0 || bytes > MAX_SOURCE_BYTES;
  const act = useCallback(
    (endpoint: Action, options: { allCases?: boolean } = {}) => {
      if (blocked) return;
      setTab("results");
      const isCheck = endpoint === "checker";
      const added = {
        ...(isCheck && ownCases.length > 0 ? { own_cases: ownCases } : {}),
        ...(isCheck && (options.allCases ?? allCases === "yes") ? { all_cases: true } : {}),
      };
      start({ solution_code: editor?.code() ?? "", problem: slug, gpu_type: gpu, dtype, endpoint, ...added });
    },
    [blocked, start, editor, slug, gpu, dtype, ownCases, allCases],
  );
  useShortcutKeys(act, () => setShowsShortcuts(true));

  const [storedSizes, storeSizes] = useStored("warmfront.panes", "");
  const sizes = parseSizes(storedSizes === "" ? null : storedSizes);
  const onResize = (pane: PaneName, percent: number): void => storeSizes(JSON.stringify(resize(sizes, pane, percent)));
  const dockPane: PaneName = useMediaQuery(THREE_COLUMNS) ? "dock" : "dockHeight";
  const style = {
    "--statement": `${sizes.statement}%`,
    "--dock": `${sizes.dock}%`,
    "--dock-height": `${sizes.dockHeight}%`,
  } as React.CSSProperties;
  const goTo = (line: number): void => editor?.goTo(line);
  return (
    <div className="workspace problem" style={style}>
      <Statement problem={problem} dtype={dtype} />
      <Splitter pane="statement" label="Width of the statement" percent={sizes.statement} onResize={onResize} />
      <EditorPane
        draft={draft}
        starter={starter}
        live={live}
        cursor={cursor}
        editor={editor}
        onEditor={setEditor}
        onCursor={setCursor}
        onAction={act}
        onShortcuts={() => setShowsShortcuts(true)}
        onXray={() => setTab("xray")}
      >
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
          onUseOther={(code) => (editor?.replace(code), draft.resolveConflict())}
          onKeepOwn={draft.resolveConflict}
        />
      </EditorPane>
      <Splitter
        pane={dockPane}
        label={dockPane === "dock" ? "Width of the results" : "Height of the results"}
        percent={sizes[dockPane]}
        onResize={onResize}
      />
      <Dock
        tab={tab}
        onTab={setTab}
        problem={problem}
        dtype={dtype}
        ownCases={ownCases}
        onOwnCases={(cases) => storeCases(JSON.stringify(cases))}
        running={running}
        live={live}
        code={draft.code}
        cursor={cursor}
        editor={editor}
        onLine={goTo}
        onRunAll={() => act("checker", { allCases: true })}
        allCases={allCases === "yes"}
        onAllCases={(wanted) => setAllCases(wanted ? "yes" : "no")}
      />
      {showsShortcuts && <Shortcuts onClose={() => (setShowsShortcuts(false), editor?.focus())} />}
    </div>
  );
}

/**
 * Mark the lines of the verdict and of the X-ray. Each set of marks is shown only while its code is in the editor; during
 * typing, the latest marks move with the text.
 */
function useMarks(editor: EditorHandle | null, running: RunState, xray: { report: Parameters<typeof xrayDiagnostics>[0]; source: string } | null): void {
  const verdict = running.progress?.verdict ?? null;
  const judged = running.run?.request.solution_code ?? null;
  useEffect(() => {
    if (editor === null) return;
    const code = editor.code();
    const fromVerdict = verdict !== null && judged === code ? lineDiagnostics(verdict) : [];
    const fromXray = xray?.source === code ? xrayDiagnostics(xray.report) : [];
    const seen = new Set(fromVerdict.map(({ line, severity }) => `${line} ${severity}`));
    editor.showDiagnostics([...fromVerdict, ...fromXray.filter(({ line, severity }) => !seen.has(`${line} ${severity}`))]);
  }, [editor, verdict, judged, xray]);
}
