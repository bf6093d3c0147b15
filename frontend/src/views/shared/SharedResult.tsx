/** The tabs of a shared result. It makes no requests, so that an embedded view needs no session. */
import { useMemo, useState } from "react";
import { Badge } from "../../components/Badge";
import { Tabs, panelProps } from "../../components/Tabs";
import { TimeValue } from "../../components/TimeValue";
import type { SharedResponse } from "../../lib/generated";
import { applyEvents, initialProgress } from "../../lib/submissionProgress";
import { Results } from "../submission/Results";
import { SourceView } from "../submission/SourceView";
import { fromEvent, type XrayReportData } from "../xray/report";
import { XrayReport } from "../xray/XrayReport";
import "../../components/charts/charts.css";
import "../submission/submission.css";
import "../xray/xray.css";

const NAMES = { results: "Results", xray: "X-ray", code: "Source" };
type TabId = keyof typeof NAMES;

export function SharedResult({ result }: { result: SharedResponse }): React.JSX.Element {
  const { submission } = result;
  const progress = useMemo(
    () => applyEvents(initialProgress(submission?.endpoint ?? "xray"), result.events),
    [submission, result.events],
  );
  const report: XrayReportData | null = result.xray ?? (progress.xray === null ? null : fromEvent(progress.xray));
  const tabs = (["results", "xray", "code"] as const).filter(
    (id) => (id !== "results" || submission !== null) && (id !== "xray" || report !== null),
  );
  const [tab, setTab] = useState<TabId>(tabs[0] ?? "code");
  const [line, setLine] = useState<number | null>(null);
  const show = (target: number): void => {
    setLine(target);
    setTab("code");
  };
  return (
    <>
      {submission !== null && (
        <div className="row">
          <Badge status={submission.verdict ?? "RUNNING"} />
          {submission.simulated && <span className="badge">Simulated</span>}
          <span>
            {submission.gpu_type}, {submission.dtype}
          </span>
          {submission.avg_runtime_ms !== null && (
            <TimeValue ms={submission.avg_runtime_ms} ci={submission.avg_ci} noisy={submission.noisy} />
          )}
        </div>
      )}
      <Tabs
        label="Shared result"
        tabs={tabs.map((id) => ({ id, name: NAMES[id] }))}
        current={tab}
        onChange={(id) => setTab(id as TabId)}
      />
      <div {...panelProps(tab)} className="stack panel">
        {tab === "results" && submission !== null && (
          <Results submission={submission} progress={progress} gpu={result.gpu ?? undefined} onLine={show} />
        )}
        {tab === "xray" && report !== null && (
          <div className="stack xray">
            <XrayReport report={report} source={result.source} onLine={show} onLineLeaves />
          </div>
        )}
        {tab === "code" && <SourceView text={result.source} name={result.file_name} line={line} />}
      </div>
    </>
  );
}
