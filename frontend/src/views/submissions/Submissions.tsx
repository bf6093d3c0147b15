/** The user's submissions, newest first. Filters are kept in the address. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { problems, ApiError, submissions } from "../../lib/api";
import { dollars, dateTime, statusText } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { SubmissionResponse } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { TimeValue } from "../../components/TimeValue";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { comparisonPath } from "../problem/versions";
import "./submissions.css";

const VERDICTS = [
  ...["ACCEPTED", "CHECKED", "BENCHMARKED", "XRAY", "WRONG_ANSWER", "COMPILE_ERROR", "RUNTIME_ERROR"],
  ...["TIME_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED", "CANCELLED", "BUDGET_EXCEEDED", "ERROR"],
];
const STATES = ["QUEUED", "RUNNING", "DONE"];
const ENDPOINTS = ["submit", "benchmark", "checker", "xray"];
const FILTERS = ["problem", "verdict", "state", "endpoint", "all", "cursor"] as const;
const PAGE_SIZE = 25;
const REFRESH_MS = 4000;

export default function Submissions(): React.JSX.Element {
  useTitle("Submissions");
  const [search, setSearch] = useSearchParams();
  const fields = Object.fromEntries(FILTERS.map((name) => [name, search.get(name)]));
  const page = useQuery(search.toString(), () => submissions({ ...fields, limit: PAGE_SIZE }), REFRESH_MS);
  const set = (name: string, value: string): void => {
    setSearch((previous) => {
      const next = new URLSearchParams(previous);
      // A cursor is only valid for the filters it was made with.
      if (name !== "cursor") next.delete("cursor");
      if (value === "") next.delete(name);
      else next.set(name, value);
      return next;
    });
  };
  const isFiltered = FILTERS.some((name) => search.get(name) !== null);
  return (
    <div className="stack">
      <h1>Submissions</h1>
      <Filters value={(name) => search.get(name) ?? ""} onChange={set} />
      {isFiltered && page.error instanceof ApiError && page.error.body.status === 422 ? (
        <EmptyState>
          No submission can match: {page.error.message} <Link href="/submissions">Show all submissions</Link>
        </EmptyState>
      ) : page.error !== null && page.data === null ? (
        <ErrorMessage error={page.error} onRetry={page.refetch} />
      ) : page.data === null ? (
        <p className="dim">Loading…</p>
      ) : page.data.items.length === 0 ? (
        <NoSubmissions isFiltered={isFiltered} />
      ) : (
        <>
          <SubmissionTable items={page.data.items} showsOwner={search.get("all") !== null} />
          <nav className="row" aria-label="Pages">
            <button
              className="button"
              disabled={search.get("cursor") === null}
              onClick={() => set("cursor", "")}
            >
              Newest
            </button>
            <button
              className="button"
              disabled={page.data.next_cursor === null}
              onClick={() => set("cursor", page.data?.next_cursor ?? "")}
            >
              Older
            </button>
          </nav>
        </>
      )}
    </div>
  );
}

interface FiltersProps {
  value: (name: string) => string;
  onChange: (name: string, value: string) => void;
}

function Filters({ value, onChange }: FiltersProps): React.JSX.Element {
  const all = useQuery("problems", problems);
  const slugs = all.data?.items.map(({ slug }) => slug) ?? [];
  const choices: [string, string, string[]][] = [
    ["problem", "Problem", slugs],
    ["verdict", "Verdict", VERDICTS],
    ["endpoint", "Endpoint", ENDPOINTS],
    ["state", "State", STATES],
  ];
  return (
    <form className="row list-filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {choices.map(([name, label, options]) => (
        <label key={name}>
          <span className="small dim">{label}</span>
          <select value={value(name)} onChange={(event) => onChange(name, event.target.value)}>
            <option value="">All</option>
            {options.map((option) => (
              <option key={option} value={option}>
                {option === option.toUpperCase() ? statusText(option) : option}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label className="row filter-all">
        <input
          type="checkbox"
          checked={value("all") !== ""}
          onChange={(event) => onChange("all", event.target.checked ? "1" : "")}
        />
        <span>All users (operators only)</span>
      </label>
    </form>
  );
}

function NoSubmissions({ isFiltered }: { isFiltered: boolean }): React.JSX.Element {
  if (isFiltered) {
    return (
      <EmptyState>
        No submissions match. <Link href="/submissions">Clear filters</Link>
      </EmptyState>
    );
  }
  return (
    <EmptyState>
      You have no submissions yet. <Link href="/problems">Choose a problem</Link>
    </EmptyState>
  );
}

function SubmissionTable({
  items,
  showsOwner,
}: {
  items: readonly SubmissionResponse[];
  showsOwner: boolean;
}): React.JSX.Element {
  const [selected, setSelected] = useState<string[]>([]);
  const toggle = (id: string): void => {
    // A third selection replaces the first.
    setSelected((previous) =>
      previous.includes(id) ? previous.filter((other) => other !== id) : [...previous, id].slice(-2),
    );
  };
  const [first, second] = items.filter(({ id }) => selected.includes(id));
  return (
    <div className="card stack">
      <div className="row">
        <span className="dim small grow">
          {selected.length === 0 ? "Select two submissions to compare." : `${selected.length} of 2 selected.`}
        </span>
        {first !== undefined && second !== undefined ? (
          <Link className="button primary" href={comparisonPath(first, second)}>
            Compare
          </Link>
        ) : (
          <button className="button" disabled>
            Compare
          </button>
        )}
      </div>
      <table className="submissions">
        <thead>
          <tr>
            <th>
              <span className="hidden">Compare</span>
            </th>
            <th>Submission</th>
            {showsOwner && <th>User</th>}
            <th>Verdict</th>
            <th className="number">Time (95% interval)</th>
            <th className="wide-only">GPU</th>
            <th className="number wide-only">Cost</th>
            <th className="wide-only">Submitted</th>
          </tr>
        </thead>
        <tbody>
          {items.map((submission) => (
            <tr key={submission.id}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare ${submission.id}`}
                  checked={selected.includes(submission.id)}
                  onChange={() => toggle(submission.id)}
                />
              </td>
              <td>
                <Link href={`/submissions/${submission.id}`}>{submission.problem}</Link>
                <div className="dim small">
                  {submission.endpoint} · {submission.dtype}
                  <span className="phone-only"> · {dateTime(submission.created_at).slice(5, 16)}</span>
                </div>
              </td>
              {showsOwner && <td>{submission.owner}</td>}
              <td>
                <Badge status={submission.verdict ?? submission.state} />
              </td>
              <td className="number">
                <TimeValue ms={submission.avg_runtime_ms} ci={submission.avg_ci} noisy={submission.noisy} stacked />
              </td>
              <td className="wide-only">{submission.simulated ? `${submission.gpu_type}, simulated` : submission.gpu_type}</td>
              <td className="number wide-only">{dollars(submission.cost_usd)}</td>
              <td className="wide-only dim">{dateTime(submission.created_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
