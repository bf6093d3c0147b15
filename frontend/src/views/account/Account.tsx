/** The user's own account: profile, shared results, API keys, and the history of `local`. */
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { ApiKeys, type KeySource } from "../../components/ApiKeys";
import { DataTable, type Column } from "../../components/DataTable";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { changeShare, claimLocalHistory, createKey, ownKeys, ownShares, profile, revokeKey } from "../../lib/api";
import { count, dateTime, plural, runtime } from "../../lib/format";
import type { ProfileResponse, ShareResponse, SolvedProblem, Visibility } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { includes, signOut, useSession } from "../../lib/session";
import { activityGrid, level, monthLabels } from "./activity";
import "../../components/account.css";

export default function Account(): React.JSX.Element {
  useTitle("Account");
  const session = useSession();
  const data = useQuery("profile", profile);
  if (data.error !== null) return <ErrorMessage error={data.error} onRetry={data.refetch} />;
  if (data.data === null || session === null) return <p className="dim">Loading…</p>;
  const { user, display_name: displayName } = data.data;
  return (
    <div className="stack">
      <div className="row">
        <h1>{displayName === "" ? user : displayName}</h1>
        <span className="badge">{session.role}</span>
        {session.team !== null && <Link href="/team">Team {session.team}</Link>}
        <span className="grow" />
        {session.authentication === "session" && (
          <button className="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
      <p className="dim">
        User {user}
        {session.email !== null && <> · {session.email}</>}
        {session.expires_at !== null && <> · signed in until {dateTime(session.expires_at)}</>}
      </p>
      {data.data.local_history > 0 && <ClaimHistory number={data.data.local_history} onClaimed={data.refetch} />}
      <Figures profile={data.data} />
      <Solved items={data.data.solved} />
      <Shares />
      {session.authentication !== "local" && includes(session.role, "author") && (
        <ApiKeys source={OWN_KEYS} description="Programs use a key instead of a sign-in. A key has at most your own permissions." />
      )}
    </div>
  );
}

function ClaimHistory({ number, onClaimed }: { number: number; onClaimed: () => void }): React.JSX.Element {
  return (
    <div className="note info row">
      <span className="grow">
        {number === 1 ? "1 submission was" : `${plural(number, "submission")} were`} made before sign-in was set up, by the user <code>local</code>.
      </span>
      <button className="button" onClick={() => void claimLocalHistory().then(onClaimed)}>
        Claim as mine
      </button>
    </div>
  );
}

function Figures({ profile: data }: { profile: ProfileResponse }): React.JSX.Element {
  const best = Math.min(...data.solved.map(({ rank }) => rank ?? Infinity));
  const facts: [string, string][] = [
    ["Solved problems", count(data.solved.length)],
    ["Best rank", Number.isFinite(best) ? `#${best}` : "–"],
    ["Submissions", count(data.submissions)],
    ["Accepted", count(data.accepted)],
  ];
  return (
    <section className="card stack" aria-label="Activity">
      <dl className="figures">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="dim small">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Activity profile={data} />
    </section>
  );
}

/** The submissions of a year, one square per day. On a phone the newest weeks are visible first. */
function Activity({ profile: data }: { profile: ProfileResponse }): React.JSX.Element {
  const scroll = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (scroll.current !== null) scroll.current.scrollLeft = scroll.current.scrollWidth;
  }, []);
  const days = activityGrid(data.activity, new Date());
  return (
    <>
      <div className="scroll" tabIndex={0} role="region" aria-label="Submissions per day" ref={scroll}>
        <div className="activity-scroll">
          <div className="activity-months dim" aria-hidden="true">
            {monthLabels(days).map(({ name, week }) => (
              <span key={week} style={{ gridColumn: week + 1, gridRow: 1 }}>
                {name}
              </span>
            ))}
          </div>
          <div className="activity" role="img" aria-label={`${plural(data.submissions, "submission")} in total; one square per day of the last year`}>
            {days.map(({ day, submissions }) => (
              <i key={day} data-level={level(submissions)} title={`${day}: ${plural(submissions, "submission")}`} />
            ))}
          </div>
        </div>
      </div>
      <div className="activity-legend dim small" aria-hidden="true">
        <span>Fewer</span>
        {[0, 1, 2, 3].map((shade) => (
          <i key={shade} data-level={shade} />
        ))}
        <span>More submissions per day (UTC)</span>
      </div>
    </>
  );
}

function Solved({ items }: { items: SolvedProblem[] }): React.JSX.Element {
  if (items.length === 0) {
    return (
      <EmptyState>
        No problem solved yet. <Link href="/problems">Choose one</Link>.
      </EmptyState>
    );
  }
  return (
    <section className="card stack">
      <h2>Solved</h2>
      <DataTable label="Solved problems" columns={SOLVED} rows={items} rowKey={({ problem }) => problem} />
    </section>
  );
}

const SOLVED: Column<SolvedProblem>[] = [
  { name: "Problem", cell: ({ problem }) => <Link href={`/problems/${problem}`}>{problem}</Link> },
  {
    name: "Rank",
    nowrap: true,
    cell: ({ problem, rank, of }) => (rank === null ? "–" : <Link href={`/leaderboard/${problem}`}>{`#${rank} of ${of}`}</Link>),
  },
  { name: "Best time", number: true, cell: (item) => runtime(item.best_runtime_ms) },
  { name: "GPU", cell: (item) => (item.gpu_type === null ? "–" : `${item.gpu_type}${item.simulated ? " (simulated)" : ""}`) },
  { name: "First solved", nowrap: true, cell: (item) => dateTime(item.solved_at) },
];

function Shares(): React.JSX.Element | null {
  const shares = useQuery("shares", ownShares);
  if (shares.data === null || shares.data.items.length === 0) return null;
  const change = (id: string, visibility: Visibility): void => void changeShare(id, visibility).then(shares.refetch);
  const columns: Column<ShareResponse>[] = [
    { name: "Link", cell: ({ id, kind }) => <Link href={`/s/${id ?? ""}`}>{kind === "xray" ? "X-ray" : "Submission"}</Link> },
    { name: "Problem", cell: ({ problem }) => problem ?? "–" },
    { name: "Shared", nowrap: true, cell: (share) => dateTime(share.created_at) },
    {
      name: "Visible to",
      cell: ({ id, visibility }) => (
        <select
          aria-label={`Visibility of ${id ?? ""}`}
          value={visibility}
          onChange={(event) => change(id ?? "", event.target.value as Visibility)}
        >
          <option value="private">Only me</option>
          <option value="unlisted">Everyone with the link</option>
          <option value="public">Everyone (listed)</option>
        </select>
      ),
    },
  ];
  return (
    <section className="card stack">
      <h2>Shared</h2>
      <DataTable label="Shared results" columns={columns} rows={shares.data.items} rowKey={({ id }) => id ?? ""} />
    </section>
  );
}

const OWN_KEYS: KeySource = {
  name: "of the user",
  ofAll: false,
  list: ownKeys,
  create: ({ role }) => createKey(role),
  revoke: revokeKey,
};
