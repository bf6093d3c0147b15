/** Actions on a submission: compare, export, share. */
import { useState } from "react";
import { useLocation } from "wouter";
import { source, submissions } from "../../lib/api";
import { dateTime } from "../../lib/format";
import { timeText } from "../../lib/timingText";
import { useQuery } from "../../lib/hooks";
import type { SubmissionEvent, SubmissionDetailResponse } from "../../lib/generated";
import { download } from "../../lib/download";
import { toCsv, toJson } from "./exports";
import { ShareMenu } from "./ShareMenu";
import { timingsOf } from "./timings";

export function Actions({
  submission,
  events,
}: {
  submission: SubmissionDetailResponse;
  events: SubmissionEvent[];
}): React.JSX.Element {
  const timings = timingsOf(submission.result);
  const [sharing, setSharing] = useState(false);
  const exportJson = async (): Promise<void> => {
    const response = await source(submission.id).catch(() => null);
    download(`${submission.id}.json`, "application/json", toJson(submission, events, response?.solution_code ?? null));
  };
  return (
    <>
      <div className="row">
        <CompareWith submission={submission} />
        <button
          className="button"
          disabled={timings.length === 0}
          title={timings.length === 0 ? "This submission has no times" : ""}
          onClick={() => download(`${submission.id}.csv`, "text/csv", toCsv(timings))}
        >
          Export CSV
        </button>
        <button className="button" onClick={() => void exportJson()}>
          Export JSON
        </button>
        <button className="button" aria-expanded={sharing} onClick={() => setSharing(!sharing)}>
          Share
        </button>
      </div>
      {sharing && <ShareMenu id={submission.id} />}
    </>
  );
}

function CompareWith({ submission }: { submission: SubmissionDetailResponse }): React.JSX.Element {
  const [, go] = useLocation();
  const others = useQuery(`others ${submission.problem}`, () => submissions({ problem: submission.problem, limit: 50 }));
  const candidates = others.data?.items.filter((other) => other.id !== submission.id && other.verdict !== null) ?? [];
  return (
    <select
      className="compare-with"
      aria-label="Compare with another submission"
      value=""
      disabled={candidates.length === 0}
      onChange={(event) => go(`/compare/${submission.id}/${event.target.value}`)}
    >
      <option value="">{candidates.length === 0 ? "No other submission yet" : "Compare with…"}</option>
      {candidates.map((other) => (
        <option key={other.id} value={other.id}>
          {dateTime(other.created_at)} {other.endpoint}:{" "}
          {other.avg_runtime_ms === null ? "no time" : timeText(other.avg_runtime_ms, other.avg_ci)}
        </option>
      ))}
    </select>
  );
}
