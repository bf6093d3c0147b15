/** What can be done with a submission: compare, take along, share. */
import { useState } from "react";
import { useLocation } from "wouter";
import { code, submissions } from "../../lib/api";
import { moment, runtime } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { StreamEvent, SubmissionDetail } from "../../lib/types";
import { toCsv, toJson } from "./exports";
import { timingsOf } from "./timings";

export function Actions({
  each,
  events,
}: {
  each: SubmissionDetail;
  events: StreamEvent[];
}): React.JSX.Element {
  const timings = timingsOf(each.result);
  const saveJson = async (): Promise<void> => {
    const source = await code(each.id).catch(() => null);
    save(`${each.id}.json`, "application/json", toJson(each, events, source?.solution_code ?? null));
  };
  return (
    <div className="row">
      <CompareWith each={each} />
      <button
        className="button"
        disabled={timings.length === 0}
        title={timings.length === 0 ? "There are no times to export" : ""}
        onClick={() => save(`${each.id}.csv`, "text/csv", toCsv(timings))}
      >
        Export CSV
      </button>
      <button className="button" onClick={() => void saveJson()}>
        Export JSON
      </button>
      <Share id={each.id} />
    </div>
  );
}

/** Hand the reader a file. */
function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function CompareWith({ each }: { each: SubmissionDetail }): React.JSX.Element {
  const [, go] = useLocation();
  const others = useQuery(`others ${each.problem}`, () => submissions({ problem: each.problem, limit: 50 }));
  const found = others.data?.items.filter((other) => other.id !== each.id && other.verdict !== null) ?? [];
  return (
    <select
      aria-label="Compare with another submission"
      value=""
      disabled={found.length === 0}
      onChange={(event) => go(`/compare/${each.id}/${event.target.value}`)}
    >
      <option value="">{found.length === 0 ? "Nothing to compare with yet" : "Compare with…"}</option>
      {found.map((other) => (
        <option key={other.id} value={other.id}>
          {moment(other.created_at)} {other.endpoint}:{" "}
          {other.avg_runtime_ms === null ? "no time" : runtime(other.avg_runtime_ms)}
        </option>
      ))}
    </select>
  );
}

function Share({ id }: { id: string }): React.JSX.Element {
  const [state, setState] = useState<"" | "copied" | "by hand">("");
  const address = `${location.origin}/submissions/${id}`;
  const share = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(address);
      setState("copied");
    } catch {
      setState("by hand"); // a browser gives the clipboard only to pages that it trusts
    }
  };
  if (state === "by hand") {
    return (
      <input
        aria-label="Link to this submission"
        readOnly
        value={address}
        onFocus={(event) => event.target.select()}
      />
    );
  }
  const text = state === "copied" ? "Link copied" : "Copy link";
  return (
    <>
      <button className="button" onClick={() => void share()}>
        {text}
      </button>
      <span className="hidden" role="status">
        {state === "copied" ? text : ""}
      </span>
    </>
  );
}
