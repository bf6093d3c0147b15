/** The user's team or class: assignments with deadlines, private leaderboards, and results. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { EmptyState, ErrorMessage, MessagePage } from "../../components/MessagePage";
import { createAssignment, deleteAssignment, problems, team, teamResults } from "../../lib/api";
import { dateTime, plural, runtime } from "../../lib/format";
import type { AssignmentResponse, AssignmentResultResponse, TeamDetailResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import { download } from "../../lib/download";
import "../../components/account.css";

export default function Team(): React.JSX.Element {
  useTitle("Team");
  const session = useSession();
  const [search] = useSearchParams();
  if (session === null) return <p className="dim">Loading…</p>;
  const name = search.get("name") ?? session.team; // operators can open every team
  if (name === null) {
    return (
      <MessagePage title="You have no team">
        <p>An admin can add you to a team, or invite you to one.</p>
      </MessagePage>
    );
  }
  return <Members key={name} name={name} />;
}

function Members({ name }: { name: string }): React.JSX.Element {
  const [changed, setChanged] = useState<TeamDetailResponse | null>(null);
  const query = useQuery(`team ${name}`, () => team(name));
  const data = changed ?? query.data;
  if (query.error !== null) return <ErrorMessage error={query.error} onRetry={query.refetch} />;
  if (data === null) return <p className="dim">Loading…</p>;
  return (
    <div className="stack">
      <div className="row">
        <h1>Team {name}</h1>
        <span className="dim">
          {plural(data.members.length, "member")}: {data.members.join(", ")}
        </span>
        <span className="grow" />
        {data.can_manage && (
          <button
            className="button"
            onClick={() => void teamResults(name).then((text) => download(`${name}-results.csv`, "text/csv", text))}
          >
            Export results
          </button>
        )}
      </div>
      {data.can_manage && <NewAssignment name={name} onCreated={setChanged} />}
      {data.assignments.length === 0 && <EmptyState>There are no assignments yet.</EmptyState>}
      {data.assignments.map((assignment) => (
        <AssignmentCard
          key={assignment.id}
          name={name}
          assignment={assignment}
          canManage={data.can_manage}
          onDelete={() => void deleteAssignment(name, assignment.id).then(setChanged)}
        />
      ))}
    </div>
  );
}

function NewAssignment({ name, onCreated }: { name: string; onCreated: (team: TeamDetailResponse) => void }): React.JSX.Element {
  const catalog = useQuery("problems", problems);
  const [problem, setProblem] = useState("");
  const [title, setTitle] = useState("");
  const [deadline, setDeadline] = useState("");
  const [error, setError] = useState<string | null>(null);
  const create = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      // The field has no time zone; the author means the one of this browser.
      onCreated(await createAssignment(name, { problem, title, deadline_at: new Date(deadline).toISOString() }));
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <section className="card stack">
      <h2>New assignment</h2>
      <form className="row" onSubmit={(event) => void create(event)}>
        <label className="field">
          <span>Problem</span>
          <select required value={problem} onChange={(event) => setProblem(event.target.value)}>
            <option value="">Choose…</option>
            {catalog.data?.items.map(({ slug, title: text }) => (
              <option key={slug} value={slug}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Title (optional)</span>
          <input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <label className="field">
          <span>Deadline</span>
          <input type="datetime-local" required value={deadline} onChange={(event) => setDeadline(event.target.value)} />
        </label>
        <button className="button primary">Set assignment</button>
      </form>
      {error !== null && (
        <p className="note bad" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}

interface CardProps {
  name: string;
  assignment: AssignmentResponse;
  canManage: boolean;
  onDelete: () => void;
}

function AssignmentCard({ name, assignment, canManage, onDelete }: CardProps): React.JSX.Element {
  const { title, problem, deadline_at: deadline, is_open: isOpen, results } = assignment;
  return (
    <section className="card stack" aria-label={title}>
      <div className="row">
        <h2>{title}</h2>
        <span className={isOpen ? "badge info" : "badge"}>{isOpen ? "open" : "closed"}</span>
        <span className="dim">until {dateTime(deadline)}</span>
        <span className="grow" />
        <Link className="button" href={`/problems/${problem}`}>
          Open problem
        </Link>
        <Link className="button" href={`/leaderboard/${problem}?team=${encodeURIComponent(name)}`}>
          Team leaderboard
        </Link>
        {canManage && (
          <button className="button danger" onClick={onDelete}>
            Delete
          </button>
        )}
      </div>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Results of ${title}`}>
        <table>
          <thead>
            <tr>
              <th>User</th>
              <th>Solved</th>
              <th>Best time</th>
              <th>GPU</th>
              <th>Submissions</th>
              <th>First accepted</th>
            </tr>
          </thead>
          <tbody>
            {results.map((result) => (
              <ResultRow key={result.user} result={result} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ResultRow({ result }: { result: AssignmentResultResponse }): React.JSX.Element {
  return (
    <tr>
      <td>{result.user}</td>
      <td>
        <span className={result.solved ? "badge good" : "badge"}>{result.solved ? "yes" : "no"}</span>
      </td>
      <td>{runtime(result.best_runtime_ms)}</td>
      <td>{result.gpu_type === null ? "–" : `${result.gpu_type}${result.simulated === true ? " (simulated)" : ""}`}</td>
      <td>{result.submissions}</td>
      <td>{dateTime(result.accepted_at)}</td>
    </tr>
  );
}
