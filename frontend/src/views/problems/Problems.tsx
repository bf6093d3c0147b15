/** What can be solved: search, filters, and for each its formula, the best time and how many solved it. */
import { useEffect, useRef } from "react";
import { Link, useSearchParams } from "wouter";
import { problems } from "../../lib/api";
import { plural, runtime, words } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { ProblemSummary } from "../../lib/types";
import { Empty, Failure } from "../../parts/Helping";
import { Tex } from "../../parts/Tex";
import { EVERYTHING, matching, searchOf, tagsOf, wantedOf, type Wanted } from "./filter";
import "./problems.css";

export default function Problems(): React.JSX.Element {
  useTitle("Problems");
  const { data, error, again } = useQuery("problems", problems);
  const [search, setSearch] = useSearchParams();
  const wanted = wantedOf(search);
  // Each letter of a search is no step to go back to.
  const setWanted = (next: Wanted): void => setSearch(searchOf(next), { replace: true });
  if (error !== null && data === null) return <Failure error={error} onRetry={again} />;
  const all = data?.items ?? [];
  const shown = matching(all, wanted);
  const solved = all.filter((each) => each.solved).length;
  return (
    <div className="stack">
      <div className="row">
        <h1>Problems</h1>
        <span className="dim grow" role="status">
          {data === null ? "Loading…" : `${shown.length} of ${plural(all.length, "problem")}, ${solved} solved by you`}
        </span>
      </div>
      <Filters wanted={wanted} tags={tagsOf(all)} onChange={setWanted} />
      {data === null && <div className="problem-list">{Array.from({ length: 6 }, (_, at) => <Waiting key={at} />)}</div>}
      {data !== null && shown.length === 0 && (
        <Empty>
          <p>No problem fits.</p>
          <button className="button" onClick={() => setWanted(EVERYTHING)}>
            Show all
          </button>
        </Empty>
      )}
      <ul className="problem-list">
        {shown.map((each) => (
          <Item key={each.slug} problem={each} />
        ))}
      </ul>
    </div>
  );
}

interface FiltersProps {
  wanted: Wanted;
  tags: string[];
  onChange: (wanted: Wanted) => void;
}

function Filters({ wanted, tags, onChange }: FiltersProps): React.JSX.Element {
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
  const set = (change: Partial<Wanted>): void => onChange({ ...wanted, ...change });
  return (
    <form className="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label className="search">
        <span className="small dim">
          Search <kbd>/</kbd>
        </span>
        <input ref={search} type="search" value={wanted.text} onChange={(event) => set({ text: event.target.value })} />
      </label>
      <Choice label="Tag" value={wanted.tag} onChange={(tag) => set({ tag })} options={tags.map((tag) => [tag, tag])} />
      <Choice
        label="Difficulty"
        value={wanted.difficulty}
        onChange={(difficulty) => set({ difficulty })}
        options={["easy", "medium", "hard"].map((each) => [each, words(each)])}
      />
      <Choice
        label="Solved"
        value={wanted.solved}
        onChange={(solved) => set({ solved })}
        options={[
          ["yes", "Solved"],
          ["no", "Not yet"],
        ]}
      />
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: string[][];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps): React.JSX.Element {
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

const TONES: Record<string, string> = { easy: "good", medium: "warn", hard: "bad" };

function Item({ problem }: { problem: ProblemSummary }): React.JSX.Element {
  return (
    <li className="card problem-card">
      <div className="row">
        <h2 className="grow">
          <Link href={`/problems/${problem.slug}`}>{problem.title}</Link>
        </h2>
        {problem.solved && <span className="badge good">✓ Solved</span>}
        <span className={`badge ${TONES[problem.difficulty] ?? ""}`}>{words(problem.difficulty)}</span>
      </div>
      <div className="formula">{problem.formula !== null && <Tex block source={folded(problem.formula)} />}</div>
      <div className="row small dim foot">
        <span className="grow">{problem.tags.join(" · ")}</span>
        <Figures problem={problem} />
      </div>
    </li>
  );
}

/** A card is narrow: a formula of several parts has one a line. */
function folded(formula: string): string {
  const parts = formula.split(/,?\s*\\qquad\s*/);
  return parts.length < 3 ? formula : `\\begin{gathered}${parts.join("\\\\")}\\end{gathered}`;
}

function Figures({ problem }: { problem: ProblemSummary }): React.JSX.Element {
  const best = problem.best_times.find((each) => !each.simulated) ?? problem.best_times[0];
  return (
    <span>
      {best !== undefined && (
        <>
          best{" "}
          <Link href={`/leaderboard/${problem.slug}`}>
            {runtime(best.runtime_ms)} {best.simulated ? "on the CPU simulator" : `on ${best.gpu_type}`}
          </Link>
          {", "}
        </>
      )}
      {plural(problem.solutions, "solution")}
    </span>
  );
}

/** Holds the room of a problem until it is there. */
function Waiting(): React.JSX.Element {
  return <div className="card problem-card skeleton" aria-hidden="true" />;
}
