/** The user's own account: profile, shared results, API keys, and the history of `local`. */
import { useState } from "react";
import { Link } from "wouter";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { changeShare, claimLocalHistory, createKey, ownKeys, ownShares, profile, revokeKey } from "../../lib/api";
import { count, dateTime, plural, runtime } from "../../lib/format";
import type { ProfileResponse, SolvedProblem, Visibility } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { includes, signOut, useSession } from "../../lib/session";
import { activityGrid, level } from "./activity";
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
      {session.authentication !== "local" && includes(session.role, "author") && <Keys />}
    </div>
  );
}

function ClaimHistory({ number, onClaimed }: { number: number; onClaimed: () => void }): React.JSX.Element {
  return (
    <div className="note info row">
      <span className="grow">
        {plural(number, "submission")} were made before sign-in was set up, by the user <code>local</code>.
      </span>
      <button className="button" onClick={() => void claimLocalHistory().then(onClaimed)}>
        Claim as mine
      </button>
    </div>
  );
}

function Figures({ profile: data }: { profile: ProfileResponse }): React.JSX.Element {
  const weeks = activityGrid(data.activity, new Date());
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
      <div className="scroll" tabIndex={0} role="region" aria-label="Submissions per day">
        <div className="activity" role="img" aria-label={`${plural(data.submissions, "submission")} in the last year`}>
          {weeks.map(({ day, submissions }) => (
            <i key={day} data-level={level(submissions)} title={`${day}: ${plural(submissions, "submission")}`} />
          ))}
        </div>
      </div>
    </section>
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
      <div className="scroll" tabIndex={0} role="region" aria-label="Solved problems">
        <table>
          <thead>
            <tr>
              <th>Problem</th>
              <th>Rank</th>
              <th>Best time</th>
              <th>GPU</th>
              <th>First solved</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.problem}>
                <td>
                  <Link href={`/problems/${item.problem}`}>{item.problem}</Link>
                </td>
                <td>
                  {item.rank === null ? "–" : <Link href={`/leaderboard/${item.problem}`}>{`#${item.rank} of ${item.of}`}</Link>}
                </td>
                <td>{runtime(item.best_runtime_ms)}</td>
                <td>{item.gpu_type === null ? "–" : `${item.gpu_type}${item.simulated ? " (simulated)" : ""}`}</td>
                <td>{dateTime(item.solved_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Shares(): React.JSX.Element | null {
  const shares = useQuery("shares", ownShares);
  if (shares.data === null || shares.data.items.length === 0) return null;
  const change = (id: string, visibility: Visibility): void => void changeShare(id, visibility).then(shares.refetch);
  return (
    <section className="card stack">
      <h2>Shared</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Shared results">
        <table>
          <thead>
            <tr>
              <th>Link</th>
              <th>Problem</th>
              <th>Shared</th>
              <th>Visible to</th>
            </tr>
          </thead>
          <tbody>
            {shares.data.items.map((share) => (
              <tr key={share.id}>
                <td>
                  <Link href={`/s/${share.id ?? ""}`}>{share.kind === "xray" ? "X-ray" : "Submission"}</Link>
                </td>
                <td>{share.problem ?? "–"}</td>
                <td>{dateTime(share.created_at)}</td>
                <td>
                  <select
                    aria-label={`Visibility of ${share.id ?? ""}`}
                    value={share.visibility}
                    onChange={(event) => change(share.id ?? "", event.target.value as Visibility)}
                  >
                    <option value="private">Only me</option>
                    <option value="unlisted">Everyone with the link</option>
                    <option value="public">Everyone (listed)</option>
                  </select>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Keys(): React.JSX.Element {
  const keys = useQuery("own keys", ownKeys);
  const [secret, setSecret] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const create = async (): Promise<void> => {
    try {
      setSecret((await createKey()).secret);
      keys.refetch();
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  const active = keys.data?.items.filter((key) => key.revoked_at === null) ?? [];
  return (
    <section className="card stack">
      <h2>API keys</h2>
      <p className="dim">Programs use a key instead of a sign-in. A key has at most your own permissions.</p>
      {secret !== null && (
        <label className="field">
          <span>New key. It is not shown again.</span>
          <input className="secret" readOnly value={secret} onFocus={(event) => event.target.select()} />
        </label>
      )}
      {error !== null && <p className="note bad">{error}</p>}
      {active.map((key) => (
        <div key={key.id} className="row">
          <code>{key.id}</code>
          <span className="dim small grow">
            {key.role}, created {dateTime(key.created_at)}
          </span>
          <button className="button danger" onClick={() => void revokeKey(key.id).then(keys.refetch)}>
            Revoke
          </button>
        </div>
      ))}
      <div>
        <button className="button" onClick={() => void create()}>
          Create key
        </button>
      </div>
    </section>
  );
}
