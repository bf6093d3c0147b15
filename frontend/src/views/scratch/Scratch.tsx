/** A scratch kernel without a problem: an editor with live diagnostics, X-ray and assembly, and launches with typed sizes. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { source } from "../../lib/api";
import { useQuery, useStored, useTitle } from "../../lib/hooks";
import { panelProps, Tabs } from "../../components/Tabs";
import type { EditorHandle } from "../problem/Editor";
import { EditorPane } from "../problem/EditorPane";
import HistoryPanel from "../problem/HistoryPanel";
import { Notices } from "../problem/Notices";
import { MAX_SOURCE_BYTES } from "../problem/RunBar";
import { RunPanel } from "../problem/RunPanel";
import { Shortcuts } from "../problem/Shortcuts";
import { useDraft } from "../problem/useDraft";
import { useLiveXray } from "../problem/useLiveXray";
import { useRun } from "../problem/useRun";
import { useShortcutKeys } from "../problem/useShortcutKeys";
import XrayPanel from "../problem/XrayPanel";
import { xrayDiagnostics } from "../problem/xrayStatus";
import { findKernels } from "./kernelParameters";
import { fieldsOf, NEW_LAUNCH, parseFields, readLaunch, type LaunchFields } from "./launchForm";
import { LaunchPanel } from "./LaunchPanel";
import "../problem/problem.css";
import "../problem/workspace.css";

const STARTER = `#include <hip/hip_runtime.h>

__global__ void scale(const float* input, float* output, float factor, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) output[i] = factor * input[i];
}
`;

const TABS = [
  { id: "launch", name: "Launch" },
  { id: "xray", name: "X-ray" },
  { id: "assembly", name: "Assembly" },
  { id: "history", name: "History" },
] as const;

type ScratchTab = (typeof TABS)[number]["id"];

export default function Scratch(): React.JSX.Element {
  useTitle("Scratch kernel");
  const draft = useDraft("scratch", "any", STARTER);
  const [editor, setEditor] = useState<EditorHandle | null>(null);
  const [cursor, setCursor] = useState(1);
  const [tab, setTab] = useState<ScratchTab>("launch");
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const bytes = useMemo(() => new TextEncoder().encode(draft.code).length, [draft.code]);
  const wanted = draft.code.trim() !== "" && bytes <= MAX_SOURCE_BYTES;
  const live = useLiveXray({ code: draft.code, slug: null, dtype: null, wanted, assembly: true, paused: false });
  const [stored, store] = useStored("warmfront.launch", JSON.stringify(NEW_LAUNCH));
  const fields = useMemo(() => parseFields(stored), [stored]);
  const onFields = useCallback((next: LaunchFields) => store(JSON.stringify(next)), [store]);
  const kernels = useMemo(() => findKernels(draft.code), [draft.code]);
  const kernel = kernels.find(({ name }) => name === fields.kernel) ?? kernels[0];
  const [errors, setErrors] = useState<Record<string, string>>({});
  const running = useRun("scratch");
  const { busy, start } = running;
  const launch = (): void => {
    if (busy || kernel === undefined || !wanted) return;
    setTab("launch");
    const form = readLaunch(fields, kernel);
    setErrors(form.errors ?? {});
    if (form.launch === null) return;
    start({ solution_code: editor?.code() ?? draft.code, problem: "scratch", endpoint: "checker", launch: form.launch });
  };
  useShortcutKeys(launch, () => setShowsShortcuts(true));
  useOpenedLaunch(editor, onFields);
  useEffect(() => {
    if (editor === null) return;
    const isCurrent = live.result?.source === editor.code();
    editor.showDiagnostics(isCurrent && live.result !== null ? xrayDiagnostics(live.result.report) : []);
  }, [editor, live.result]);
  return (
    <div className="workspace scratch problem">
      <EditorPane
        draft={draft}
        starter={STARTER}
        live={live}
        cursor={cursor}
        editor={editor}
        onEditor={setEditor}
        onCursor={setCursor}
        onAction={launch}
        onShortcuts={() => setShowsShortcuts(true)}
        onXray={() => setTab("xray")}
      >
        <div className="run-bar scratch-head">
          <h1>Scratch kernel</h1>
          <p className="dim small">Any kernel, without a problem. It is compiled for the GPU while you type, and launched when you press Launch.</p>
        </div>
        <Notices
          other={draft.other}
          unsaved={draft.unsaved}
          error={running.error}
          onUseOther={(code) => (editor?.replace(code), draft.resolveConflict())}
          onKeepOwn={draft.resolveConflict}
        />
      </EditorPane>
      <section className="card dock" aria-label="Launch, X-ray and assembly">
        <Tabs label="Dock" tabs={TABS} current={tab} onChange={(id) => setTab(id as ScratchTab)} />
        <div {...panelProps(tab)} className="dock-panel">
          {tab === "launch" ? (
            <div className="stack">
              <LaunchPanel
                kernels={kernels}
                kernel={kernel}
                fields={fields}
                errors={errors}
                busy={busy}
                cancelling={running.cancelling}
                onChange={onFields}
                onLaunch={launch}
                onCancel={running.requestCancel}
              />
              {running.progress !== null && (
                <RunPanel
                  running={running}
                  slug="scratch"
                  code={draft.code}
                  onLine={(line) => editor?.goTo(line)}
                  onRestore={(text) => editor?.replace(text)}
                />
              )}
            </div>
          ) : tab === "history" ? (
            <HistoryPanel
              slug="scratch"
              code={draft.code}
              current={running.run?.id ?? null}
              ended={!busy}
              onRestore={(text) => editor?.replace(text)}
            />
          ) : (
            <XrayPanel view={tab} live={live} code={draft.code} slug={null} dtype={null} cursor={cursor} editor={editor} onLine={(line) => editor?.goTo(line)} />
          )}
        </div>
      </section>
      {showsShortcuts && <Shortcuts onClose={() => (setShowsShortcuts(false), editor?.focus())} />}
    </div>
  );
}

/** `?from=sub_…` opens the code and the launch of a submission, once: a reload must not overwrite later changes. */
function useOpenedLaunch(editor: EditorHandle | null, onFields: (fields: LaunchFields) => void): void {
  const [search, setSearch] = useSearchParams();
  const [from] = useState(() => search.get("from"));
  const opened = useQuery(`scratch ${from ?? ""}`, () => (from === null ? Promise.resolve(null) : source(from)));
  const isDone = useRef(false);
  useEffect(() => {
    if (editor === null || opened.data === null || isDone.current) return;
    isDone.current = true;
    editor.replace(opened.data.solution_code);
    if (opened.data.launch !== null) onFields(fieldsOf(opened.data.launch, findKernels(opened.data.solution_code)));
    setSearch({}, { replace: true });
  }, [editor, opened.data, onFields, setSearch]);
}
