/** The user's team or class: assignments with deadlines, private leaderboards, and results. */
import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { DataTable, type Column } from "../../components/DataTable";
import { EmptyState, ErrorMessage, MessagePage } from "../../components/MessagePage";
import { Progress } from "../../components/Progress";
import { changeDeadline, createAssignment, deleteAssignment, problems, team, teamResults } from "../../lib/api";
import { count, dateTime, dollars, plural, runtime, wholeCents } from "../../lib/format";
import type { AssignmentResponse, AssignmentResultResponse, TeamDetailResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { includes, useSession } from "../../lib/session";
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
  const [deleting, setDeleting] = useState<AssignmentResponse | null>(null);
  const [extending, setExtending] = useState<AssignmentResponse | null>(null);
  const session = useSession();
  const query = useQuery(`team ${name}`, () => team(name));
  const data = changed ?? query.data;
  if (query.error !== null) return <ErrorMessage error={query.error} onRetry={query.refetch} />;
  if (data === null) return <p className="dim">Loading…</p>;
  return (
    <div className="stack">
      <div className="row">
        <h1 className="grow">Team {name}</h1>
        {data.can_manage && (
          <button
            className="button"
            onClick={() => void teamResults(name).then((text) => download(`${name}-results.csv`, "text/csv", text))}
          >
            Export results
          </button>
        )}
      </div>
      <p className="dim">
        {plural(data.members.length, "member")}: {data.members.join(", ")}
      </p>
      <Budget team={data} />
      {data.can_manage && <NewAssignment name={name} onCreated={setChanged} />}
      {data.assignments.length === 0 && <EmptyState>There are no assignments yet.</EmptyState>}
      {data.assignments.map((assignment) => (
        <AssignmentCard
          key={assignment.id}
          name={name}
          assignment={assignment}
          canManage={data.can_manage}
          canOpen={(user) => user === session?.user || includes(session?.role, "operator")}
          onDelete={() => setDeleting(assignment)}
          onChangeDeadline={() => setExtending(assignment)}
        />
      ))}
      {extending !== null && (
        <DeadlineDialog
          assignment={extending}
          onConfirm={async (deadline) => setChanged(await changeDeadline(name, extending.id, deadline))}
          onClose={() => setExtending(null)}
        />
      )}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.title}?`}
          confirm="Delete assignment"
          danger
          onConfirm={async () => setChanged(await deleteAssignment(name, deleting.id))}
          onClose={() => setDeleting(null)}
        >
          <p>The list of results is deleted. Submissions are kept.</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

/** What the members may still spend today; nothing if there is no limit. */
function Budget({ team }: { team: TeamDetailResponse }): React.JSX.Element | null {
  if (team.limit_usd === null) return null;
  const used = team.spent_usd + team.expected_usd;
  const left = wholeCents(team.limit_usd - used);
  return (
    <section className="card stack" aria-label="Budget">
      <div className="row">
        <span className="grow">
          {dollars(team.spent_usd)} of {dollars(team.limit_usd)} spent today (UTC) by all members
          {team.expected_usd > 0 && <>, and {dollars(team.expected_usd)} expected for unfinished submissions</>}
        </span>
        <strong>{dollars(left)} left</strong>
      </div>
      <Progress share={Math.min(1, used / team.limit_usd)} label="Share of the budget that is used" late={left === 0} />
    </section>
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
      setError(errorText(failure));
    }
  };
  return (
    <section className="card stack">
      <h2>New assignment</h2>
      <form className="fields" onSubmit={(event) => void create(event)}>
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

interface DeadlineProps {
  assignment: AssignmentResponse;
  onConfirm: (deadline: string) => Promise<void>;
  onClose: () => void;
}

function DeadlineDialog({ assignment, onConfirm, onClose }: DeadlineProps): React.JSX.Element {
  const [deadline, setDeadline] = useState(localMinute(assignment.deadline_at));
  return (
    <ConfirmDialog
      title={`Change the deadline of ${assignment.title}?`}
      confirm="Change deadline"
      ready={deadline !== ""}
      onConfirm={() => onConfirm(new Date(deadline).toISOString())}
      onClose={onClose}
    >
      <label className="field">
        <span>Deadline</span>
        <input type="datetime-local" required value={deadline} onChange={(event) => setDeadline(event.target.value)} />
      </label>
      <p>If the new deadline is later, submissions between the two deadlines count; if it is earlier, they do not.</p>
    </ConfirmDialog>
  );
}

/** A time as a field of the form shows it: in the browser's time zone, to the minute. */
function localMinute(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

interface CardProps {
  name: string;
  assignment: AssignmentResponse;
  canManage: boolean;
  /** Whether the viewer may open the submissions of a user. */
  canOpen: (user: string) => boolean;
  onDelete: () => void;
  onChangeDeadline: () => void;
}

function AssignmentCard({ name, assignment, canManage, canOpen, onDelete, onChangeDeadline }: CardProps): React.JSX.Element {
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
          <>
            <button className="button" onClick={onChangeDeadline}>
              Change deadline…
            </button>
            <button className="button danger" onClick={onDelete}>
              Delete…
            </button>
          </>
        )}
      </div>
      <DataTable label={`Results of ${title}`} columns={resultColumns(canOpen)} rows={results} rowKey={({ user }) => user} />
    </section>
  );
}

const resultColumns = (canOpen: (user: string) => boolean): Column<AssignmentResultResponse>[] => [
  { name: "User", cell: ({ user }) => user },
  { name: "Solved", cell: ({ solved }) => <span className={solved ? "badge good" : "badge"}>{solved ? "yes" : "no"}</span> },
  { name: "Best time", number: true, cell: (result) => <BestTime result={result} linked={canOpen(result.user)} /> },
  { name: "GPU", cell: (result) => (result.gpu_type === null ? "–" : `${result.gpu_type}${result.simulated === true ? " (simulated)" : ""}`) },
  { name: "Submissions", number: true, cell: ({ submissions }) => count(submissions) },
  { name: "First accepted", nowrap: true, cell: (result) => dateTime(result.accepted_at) },
];

/** The best time, with a link to its submission. */
function BestTime({ result, linked }: { result: AssignmentResultResponse; linked: boolean }): React.JSX.Element {
  const time = runtime(result.best_runtime_ms);
  if (!linked || result.best_submission_id === null) return <>{time}</>;
  return <Link href={`/submissions/${result.best_submission_id}`}>{time}</Link>;
}
