/** One submission: results, event log, X-ray and source. Updates live while it runs. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { cancel, gpus, source, submission } from "../../lib/api";
import { statusText } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import type { SubmissionProgress } from "../../lib/submissionProgress";
import type { SubmissionDetailResponse } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { ErrorMessage } from "../../components/MessagePage";
import { Tabs, panelProps } from "../../components/Tabs";
import { CancelDialog } from "../operators/CancelDialog";
import { fromEvent } from "../xray/report";
import Xray from "../xray/Xray";
import { Actions } from "./Actions";
import { Summary } from "./Summary";
import { SourceView } from "./SourceView";
import { Results } from "./Results";
import { EventLog } from "./EventLog";
import { useEventLog } from "./useEventLog";
import "./submission.css";

const TABS = [
  { id: "results", name: "Results" },
  { id: "events", name: "Events" },
  { id: "xray", name: "X-ray" },
  { id: "code", name: "Source" },
];

export default function Submission({ id }: { id: string }): React.JSX.Element {
  const record = useQuery(id, () => submission(id));
  const { events, progress, failures } = useEventLog(id, record.data?.endpoint ?? null);
  // Fetch the record again after the verdict: while it ran, the record had no result.
  const ended = useQuery(`${id} ended ${progress.verdict !== null}`, () => submission(id));
  const current = ended.data ?? record.data;
  useTitle(current === null ? "Submission" : `${stateOf(current, progress)}: ${current.problem}`);
  if (record.error !== null) return <ErrorMessage error={record.error} onRetry={record.refetch} />;
  if (current === null) return <p className="dim">Loading…</p>;
  return (
    <div className="stack">
      <Head submission={current} progress={progress} />
      {failures > 1 && <p className="note warn">Connection lost. Reconnecting; the submission continues.</p>}
      <Summary submission={current} progress={progress} />
      <Actions submission={current} events={events} />
      <Panels submission={current} progress={progress} events={events} />
    </div>
  );
}

function stateOf(detail: SubmissionDetailResponse, progress: SubmissionProgress): string {
  return statusText(detail.verdict ?? progress.verdict?.status ?? "RUNNING");
}

function Head({ submission: detail, progress }: { submission: SubmissionDetailResponse; progress: SubmissionProgress }): React.JSX.Element {
  const [cancelling, setCancelling] = useState(false);
  const [asking, setAsking] = useState(false);
  const isOwn = detail.owner === useSession()?.user;
  const hasEnded = detail.verdict !== null || progress.verdict !== null;
  const requestCancel = async (): Promise<void> => {
    setCancelling(true);
    // Ignore errors: if the submission has already ended, the stream has the verdict.
    await cancel(detail.id).catch(() => undefined);
    setCancelling(false);
  };
  return (
    <div className="row">
      <h1>{detail.problem}</h1>
      <Badge status={detail.verdict ?? progress.verdict?.status ?? "RUNNING"} />
      {detail.simulated && <span className="badge">Simulated</span>}
      <span className="grow" />
      <span className="row">
        <Link className="button" href={`/problems/${detail.problem}?from=${detail.id}`}>
          Open in editor
        </Link>
        <Link className="button" href={`/problems/${detail.problem}`}>
          Open problem
        </Link>
        {!hasEnded && (
          <button className="button danger" disabled={cancelling} onClick={() => (isOwn ? void requestCancel() : setAsking(true))}>
            {cancelling ? "Cancelling…" : isOwn ? "Cancel" : "Cancel…"}
          </button>
        )}
        {asking && <CancelDialog id={detail.id} owner={detail.owner} onDone={() => undefined} onClose={() => setAsking(false)} />}
      </span>
    </div>
  );
}

interface PanelsProps {
  submission: SubmissionDetailResponse;
  progress: SubmissionProgress;
  events: Parameters<typeof EventLog>[0]["events"];
}

function Panels({ submission: detail, progress, events }: PanelsProps): React.JSX.Element {
  const [search, setSearch] = useSearchParams();
  const [line, setLine] = useState<number | null>(null);
  const sourceQuery = useQuery(`source ${detail.id}`, () => source(detail.id));
  const catalog = useQuery("gpus", gpus);
  const requested = search.get("tab") ?? "results";
  const current = TABS.some((tab) => tab.id === requested) ? requested : "results";
  const open = (tab: string): void => setSearch(tab === "results" ? {} : { tab }, { replace: true });
  const show = (target: number): void => {
    setLine(target);
    open("code");
  };
  const text = sourceQuery.data?.solution_code ?? "";
  return (
    <>
      <Tabs label="Submission" tabs={TABS} current={current} onChange={open} />
      <div {...panelProps(current)} className="stack panel">
        {current === "results" && (
          <Results
            submission={detail}
            progress={progress}
            gpu={catalog.data?.items.find((gpu) => gpu.name === detail.gpu_type)}
            onLine={show}
          />
        )}
        {current === "events" && <EventLog events={events} ended={progress.verdict !== null} />}
        {current === "xray" && (
          <Xray
            source={text}
            problem={detail.problem}
            dtype={detail.dtype}
            stored={progress.xray === null ? null : fromEvent(progress.xray)}
            onLine={show}
            onLineLeaves
          />
        )}
        {current === "code" &&
          (sourceQuery.data === null ? (
            <p className="dim">Loading…</p>
          ) : (
            <SourceView text={text} name={detail.file_name} line={line} />
          ))}
      </div>
    </>
  );
}
