/** The list of problems with search and filters; each with its formula, best time and number of solutions. */
import { useEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import { problems } from "../../lib/api";
import { plural, statusText } from "../../lib/format";
import { timeText } from "../../lib/timingText";
import { useQuery, useTitle } from "../../lib/hooks";
import type { ProblemResponse } from "../../lib/generated";
import { DifficultyBadge } from "../../components/Badge";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { Tex } from "../../components/Tex";
import { FirstVisit } from "./FirstVisit";
import { filterProblems, fromSearchParams, NO_FILTER, tagsByUse, toSearchParams, type ProblemFilter } from "./filter";
import "./problems.css";

export default function Problems(): React.JSX.Element {
  useTitle("Problems");
  const { data, error, refetch } = useQuery("problems", problems);
  const [search, setSearch] = useSearchParams();
  const filter = fromSearchParams(search);
  // Replace the history entry: the Back button should not step through every letter of a search.
  const setFilter = (next: ProblemFilter): void => setSearch(toSearchParams(next), { replace: true });
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const all = data?.items ?? [];
  const shown = filterProblems(all, filter);
  const solved = all.filter((problem) => problem.solved).length;
  return (
    <div className="stack">
      <div className="row problems-head">
        <h1>Problems</h1>
        <span className="dim" role="status">
          {data === null ? "Loading…" : `${shown.length} of ${plural(all.length, "problem")}, ${solved} solved by you`}
        </span>
        <Link className="button" href="/scratch" title="X-ray and launch any kernel, without a problem">
          Scratch kernel
        </Link>
      </div>
      <FirstVisit problems={all} />
      <Filters filter={filter} tags={tagsByUse(all)} onChange={setFilter} />
      {data === null && <div className="problem-list">{Array.from({ length: 6 }, (_, index) => <Placeholder key={index} />)}</div>}
      {data !== null && shown.length === 0 && (
        <EmptyState>
          <p>No problems match.</p>
          <button className="button" onClick={() => setFilter(NO_FILTER)}>
            Clear filters
          </button>
        </EmptyState>
      )}
      <ul className="problem-list">
        {shown.map((problem) => (
          <ProblemCard key={problem.slug} problem={problem} />
        ))}
      </ul>
    </div>
  );
}

interface FiltersProps {
  filter: ProblemFilter;
  tags: string[];
  onChange: (filter: ProblemFilter) => void;
}

function Filters({ filter, tags, onChange }: FiltersProps): React.JSX.Element {
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest("input, select, textarea") !== null;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    window.addEventListener("keydown", focus);
    return () => window.removeEventListener("keydown", focus);
  }, []);
  const set = (change: Partial<ProblemFilter>): void => onChange({ ...filter, ...change });
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label className="search">
        <span className="small dim">
          Search <kbd>/</kbd>
        </span>
        <input ref={search} type="search" value={filter.text} onChange={(event) => set({ text: event.target.value })} />
      </label>
      <Select label="Tag" value={filter.tag} onChange={(tag) => set({ tag })} options={tags.map((tag) => [tag, tag])} />
      <Select
        label="Difficulty"
        value={filter.difficulty}
        onChange={(difficulty) => set({ difficulty })}
        options={["easy", "medium", "hard"].map((level) => [level, statusText(level)])}
      />
      <Select
        label="Solved"
        value={filter.solved}
        onChange={(solved) => set({ solved })}
        options={[
          ["yes", "Solved"],
          ["no", "Not solved"],
        ]}
      />
    </form>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: string[][];
  onChange: (value: string) => void;
}

function Select({ label, value, options, onChange }: SelectProps): React.JSX.Element {
  return (
    <label>
      <span className="small dim">{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">All</option>
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function ProblemCard({ problem }: { problem: ProblemResponse }): React.JSX.Element {
  return (
    <li className="card problem-card">
      <div className="row">
        <h2 className="grow">
          <Link href={`/problems/${problem.slug}`}>{problem.title}</Link>
        </h2>
        {problem.solved && <span className="badge good">✓ Solved</span>}
        <DifficultyBadge difficulty={problem.difficulty} />
      </div>
      <div className="formula">{problem.formula !== null && <Tex block source={stackParts(problem.formula)} />}</div>
      <div className="row small dim foot">
        <span className="grow">{problem.tags.join(" · ")}</span>
        <Figures problem={problem} />
      </div>
    </li>
  );
}

/** Put each part of a long formula on its own line: a card is narrow. */
function stackParts(formula: string): string {
  const parts = formula.split(/,?\s*\\qquad\s*/);
  return parts.length < 3 ? formula : `\\begin{gathered}${parts.join("\\\\")}\\end{gathered}`;
}

function Figures({ problem }: { problem: ProblemResponse }): React.JSX.Element {
  const best = problem.best_times.find((time) => !time.simulated) ?? problem.best_times[0];
  return (
    <span>
      {best !== undefined && (
        <>
          Best{" "}
          <Link href={`/leaderboard/${problem.slug}`}>
            {timeText(best.runtime_ms, best.ci)}
            {best.noisy && ", noisy,"} {best.simulated ? "on the CPU runtime" : `on ${best.gpu_type}`}
          </Link>
          {", "}
        </>
      )}
      {plural(problem.solutions, "solution")}
    </span>
  );
}

/** Reserves the space of a card until the problems are loaded. */
function Placeholder(): React.JSX.Element {
  return <div className="card problem-card skeleton" aria-hidden="true" />;
}
