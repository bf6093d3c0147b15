/** A scratch kernel without a problem: an editor with live diagnostics, X-ray and assembly. Nothing is run. */
import { useEffect, useMemo, useState } from "react";
import { useTitle } from "../../lib/hooks";
import { panelProps, Tabs } from "../../components/Tabs";
import type { EditorHandle } from "../problem/Editor";
import { EditorPane } from "../problem/EditorPane";
import { Notices } from "../problem/Notices";
import { MAX_SOURCE_BYTES } from "../problem/RunBar";
import { Shortcuts } from "../problem/Shortcuts";
import { useDraft } from "../problem/useDraft";
import { useLiveXray } from "../problem/useLiveXray";
import XrayPanel from "../problem/XrayPanel";
import { xrayDiagnostics } from "../problem/xrayStatus";
import "../problem/problem.css";
import "../problem/workspace.css";

const STARTER = `#include <hip/hip_runtime.h>

__global__ void scale(const float* input, float* output, float factor, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) output[i] = factor * input[i];
}

void launch(const float* input, float* output, float factor, size_t n) {
    scale<<<(n + 255) / 256, 256>>>(input, output, factor, n);
}
`;

const TABS = [
  { id: "xray", name: "X-ray" },
  { id: "assembly", name: "Assembly" },
] as const;

export default function Scratch(): React.JSX.Element {
  useTitle("Scratch kernel");
  const draft = useDraft("scratch", "any", STARTER);
  const [editor, setEditor] = useState<EditorHandle | null>(null);
  const [cursor, setCursor] = useState(1);
  const [tab, setTab] = useState<"xray" | "assembly">("xray");
  const [showsShortcuts, setShowsShortcuts] = useState(false);
  const bytes = useMemo(() => new TextEncoder().encode(draft.code).length, [draft.code]);
  const wanted = draft.code.trim() !== "" && bytes <= MAX_SOURCE_BYTES;
  const live = useLiveXray({ code: draft.code, slug: null, dtype: null, wanted, assembly: true, paused: false });
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
        onAction={() => undefined}
        onShortcuts={() => setShowsShortcuts(true)}
        onXray={() => setTab("xray")}
      >
        <div className="run-bar scratch-head">
          <h1>Scratch kernel</h1>
          <p className="dim small">Any kernel, without a problem. It is compiled for the GPU while you type, and never run.</p>
        </div>
        <Notices
          other={draft.other}
          unsaved={draft.unsaved}
          error={null}
          onUseOther={(code) => (editor?.replace(code), draft.resolveConflict())}
          onKeepOwn={draft.resolveConflict}
        />
      </EditorPane>
      <section className="card dock" aria-label="X-ray and assembly">
        <Tabs label="Dock" tabs={TABS} current={tab} onChange={(id) => setTab(id as "xray" | "assembly")} />
        <div {...panelProps(tab)} className="dock-panel">
          <XrayPanel view={tab} live={live} code={draft.code} cursor={cursor} editor={editor} onLine={(line) => editor?.goTo(line)} />
        </div>
      </section>
      {showsShortcuts && <Shortcuts onClose={() => (setShowsShortcuts(false), editor?.focus())} />}
    </div>
  );
}
