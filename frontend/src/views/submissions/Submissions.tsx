/** The caller's submissions, the newest first, with filters that the address keeps. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { problems, Refused, submissions } from "../../lib/api";
import { dollars, moment, runtime, words } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { Submission } from "../../lib/types";
import { Badge } from "../../parts/Badge";
import { Empty, Failure } from "../../parts/Helping";
import "./submissions.css";

const VERDICTS = [
  ...["ACCEPTED", "CHECKED", "BENCHMARKED", "XRAY", "WRONG_ANSWER", "COMPILE_ERROR", "RUNTIME_ERROR"],
  ...["TIME_LIMIT_EXCEEDED", "MEMORY_LIMIT_EXCEEDED", "CANCELLED", "BUDGET_EXCEEDED", "ERROR"],
];
const STATES = ["QUEUED", "RUNNING", "DONE"];
const ENDPOINTS = ["submit", "benchmark", "checker", "xray"];
const FILTERS = ["problem", "verdict", "state", "endpoint", "all", "cursor"] as const;
const PAGE = 25;
const REFRESH_MS = 4000;

export default function Submissions(): React.JSX.Element {
  useTitle("Submissions");
  const [search, setSearch] = useSearchParams();
  const fields = Object.fromEntries(FILTERS.map((name) => [name, search.get(name)]));
  const page = useQuery(search.toString(), () => submissions({ ...fields, limit: PAGE }), REFRESH_MS);
  const set = (name: string, value: string): void => {
    setSearch((before) => {
      const next = new URLSearchParams(before);
      // Another filter is another list: a place in the old one means nothing in it.
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
      {isFiltered && page.error instanceof Refused && page.error.refusal.status === 422 ? (
        <Empty>
          No submission can match: {page.error.message} <Link href="/submissions">Show all of yours.</Link>
        </Empty>
      ) : page.error !== null && page.data === null ? (
        <Failure error={page.error} onRetry={page.again} />
      ) : page.data === null ? (
        <p className="dim">Loading…</p>
      ) : page.data.items.length === 0 ? (
        <Nothing isFiltered={isFiltered} />
      ) : (
        <>
          <List items={page.data.items} showsOwner={search.get("all") !== null} />
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
  const slugs = all.data?.items.map((each) => each.slug) ?? [];
  const choices: [string, string, string[]][] = [
    ["problem", "Problem", slugs],
    ["verdict", "Verdict", VERDICTS],
    ["endpoint", "Asked for", ENDPOINTS],
    ["state", "State", STATES],
  ];
  return (
    <form className="row list-filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {choices.map(([name, label, options]) => (
        <label key={name}>
          <span className="small dim">{label}</span>
          <select value={value(name)} onChange={(event) => onChange(name, event.target.value)}>
            <option value="">any</option>
            {options.map((option) => (
              <option key={option} value={option}>
                {option === option.toUpperCase() ? words(option) : option}
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
        <span>Everyone’s (operators)</span>
      </label>
    </form>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }): React.JSX.Element {
  if (isFiltered) {
    return (
      <Empty>
        Nothing matches. <Link href="/submissions">Show all of yours.</Link>
      </Empty>
    );
  }
  return (
    <Empty>
      You have not submitted anything yet. <Link href="/problems">Pick a problem to begin.</Link>
    </Empty>
  );
}

function List({
  items,
  showsOwner,
}: {
  items: readonly Submission[];
  showsOwner: boolean;
}): React.JSX.Element {
  const [picked, setPicked] = useState<string[]>([]);
  const toggle = (id: string): void => {
    // The third replaces the one picked first.
    setPicked((before) =>
      before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-2),
    );
  };
  const [first, second] = picked;
  return (
    <div className="card stack">
      <div className="row">
        <span className="dim small grow">
          {picked.length === 0 ? "Pick two to compare them." : `${picked.length} of 2 picked.`}
        </span>
        {first !== undefined && second !== undefined ? (
          <Link className="button primary" href={`/compare/${first}/${second}`}>
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
            <th className="number">Time</th>
            <th className="wide-only">GPU</th>
            <th className="number wide-only">Cost</th>
            <th className="wide-only">Handed in</th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare ${each.id}`}
                  checked={picked.includes(each.id)}
                  onChange={() => toggle(each.id)}
                />
              </td>
              <td>
                <Link href={`/submissions/${each.id}`}>{each.problem}</Link>
                <div className="dim small">
                  {each.endpoint} · {each.dtype}
                  <span className="phone-only"> · {moment(each.created_at).slice(5, 16)}</span>
                </div>
              </td>
              {showsOwner && <td>{each.owner}</td>}
              <td>
                <Badge status={each.verdict ?? each.state} />
              </td>
              <td className="number">{runtime(each.avg_runtime_ms)}</td>
              <td className="wide-only">{each.simulated ? `${each.gpu_type}, simulated` : each.gpu_type}</td>
              <td className="number wide-only">{dollars(each.cost_usd)}</td>
              <td className="wide-only dim">{moment(each.created_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
