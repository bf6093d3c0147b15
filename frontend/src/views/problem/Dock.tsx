/** The dock: results, X-ray, assembly and history of the code in the editor. */
import { lazy, Suspense } from "react";
import { lazyImport } from "../../lib/lazyImport";
import type { Dtype, OwnCase, ProblemDetailResponse } from "../../lib/generated";
import { panelProps, Tabs } from "../../components/Tabs";
import { ACTIONS } from "./actions";
import type { EditorHandle } from "./Editor";
import { RunPanel } from "./RunPanel";
import type { LiveXray } from "./useLiveXray";
import type { RunState } from "./useRun";

const XrayPanel = lazy(lazyImport(() => import("./XrayPanel")));
const CasesPanel = lazy(lazyImport(() => import("./CasesPanel")));
const HistoryPanel = lazy(lazyImport(() => import("./HistoryPanel")));

const TABS = [
  { id: "results", name: "Results" },
  { id: "cases", name: "Cases" },
  { id: "xray", name: "X-ray" },
  { id: "assembly", name: "Assembly" },
  { id: "history", name: "History" },
] as const;

export type DockTab = (typeof TABS)[number]["id"];

interface Props {
  tab: DockTab;
  onTab: (tab: DockTab) => void;
  problem: ProblemDetailResponse;
  dtype: Dtype;
  ownCases: readonly OwnCase[];
  onOwnCases: (cases: OwnCase[]) => void;
  running: RunState;
  live: LiveXray;
  code: string;
  cursor: number;
  editor: EditorHandle | null;
  onLine: (line: number) => void;
  /** Check all cases, also after a wrong answer. */
  onRunAll: () => void;
  /** Whether every check continues after a wrong answer. */
  allCases: boolean;
  onAllCases: (wanted: boolean) => void;
}

export function Dock(props: Props): React.JSX.Element {
  const { tab, onTab, problem, dtype, ownCases, onOwnCases, running, live, code, cursor, editor, onLine } = props;
  const { slug } = problem;
  return (
    <section className="card dock" aria-label="Results, X-ray and history" data-tour="dock">
      <Tabs label="Dock" tabs={TABS} current={tab} onChange={(id) => onTab(id as DockTab)} />
      <div {...panelProps(tab)} className="dock-panel">
        {tab === "results" &&
          (running.progress === null ? (
            <WhatButtonsDo />
          ) : (
            <RunPanel
              running={running}
              slug={slug}
              code={code}
              onLine={onLine}
              onRestore={(text) => editor?.replace(text)}
              onRunAll={props.onRunAll}
            />
          ))}
        <Suspense fallback={<p className="dim">Loading…</p>}>
          {tab === "cases" && (
            <CasesPanel
              problem={problem}
              dtype={dtype}
              cases={ownCases}
              onChange={onOwnCases}
              busy={running.busy}
              onRunAll={props.onRunAll}
              allCases={props.allCases}
              onAllCases={props.onAllCases}
            />
          )}
          {(tab === "xray" || tab === "assembly") && (
            <XrayPanel view={tab} live={live} code={code} slug={slug} dtype={dtype} cursor={cursor} editor={editor} onLine={onLine} />
          )}
          {tab === "history" && (
            <HistoryPanel
              slug={slug}
              code={code}
              current={running.run?.id ?? null}
              ended={!running.busy}
              onRestore={(text) => editor?.replace(text)}
            />
          )}
        </Suspense>
      </div>
    </section>
  );
}

/** Shown before the first run. */
function WhatButtonsDo(): React.JSX.Element {
  return (
    <div className="stack">
      <p>No run yet. Write a kernel, then press one of these:</p>
      <dl className="what-buttons-do">
        {Object.values(ACTIONS).map(({ name, keys, explanation }) => (
          <div key={name}>
            <dt>
              <strong>{name}</strong> <kbd>{keys.replaceAll("+", " ")}</kbd>
            </dt>
            <dd>{explanation}</dd>
          </div>
        ))}
      </dl>
      <p className="dim small">Compiler errors are marked in the editor while you type, before any run.</p>
    </div>
  );
}
