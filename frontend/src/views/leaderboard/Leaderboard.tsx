/** The leaderboard of a problem: a table per GPU, and one for simulated results, each with its own scale. */
import { Link, useLocation } from "wouter";
import { get, problems } from "../../lib/api";
import { gflops, percent, plural, runtime } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { rank, type Ranked } from "./ranking";
import "./leaderboard.css";

interface Entry {
  user: string;
  gpu_type: string;
  dtype: string;
  avg_runtime_ms: number;
  ci: [number, number] | null;
  avg_gflops: number | null;
  pct_of_floor: number | null;
  submission_id: string | null;
  finished_at: string | null;
}

interface LeaderboardResponse {
  problem: string;
  items: Entry[];
  simulated: Entry[];
}

export default function Leaderboard({ slug }: { slug: string }): React.JSX.Element {
  useTitle(`Leaderboard of ${slug}`);
  const leaderboard = useQuery(slug, () => get<LeaderboardResponse>(`/leaderboard/${encodeURIComponent(slug)}`));
  if (leaderboard.error !== null && leaderboard.data === null)
    return <ErrorMessage error={leaderboard.error} onRetry={leaderboard.refetch} />;
  return (
    <div className="stack">
      <Head slug={slug} />
      {leaderboard.data === null ? <p className="dim">Loading…</p> : <Tables leaderboard={leaderboard.data} />}
    </div>
  );
}

function Head({ slug }: { slug: string }): React.JSX.Element {
  const all = useQuery("problems", problems);
  const [, go] = useLocation();
  return (
    <div className="row">
      <h1 className="grow">Leaderboard</h1>
      <label className="row problem-select">
        <span>Problem</span>
        <select value={slug} onChange={(event) => go(`/leaderboard/${event.target.value}`)}>
          {(all.data?.items ?? [{ slug, title: slug }]).map((option) => (
            <option key={option.slug} value={option.slug}>
              {option.title}
            </option>
          ))}
        </select>
      </label>
      <Link className="button" href={`/problems/${slug}`}>
        Open problem
      </Link>
    </div>
  );
}

function Tables({ leaderboard }: { leaderboard: LeaderboardResponse }): React.JSX.Element {
  const gpus = [...new Set(leaderboard.items.map((entry) => entry.gpu_type))].sort();
  return (
    <>
      {gpus.map((gpu) => (
        <RankingTable key={gpu} title={gpu} entries={leaderboard.items.filter((entry) => entry.gpu_type === gpu)} />
      ))}
      {leaderboard.items.length === 0 && (
        <EmptyState>
          No submission was accepted on a GPU yet.{" "}
          <Link href={`/problems/${leaderboard.problem}`}>Submit the first one</Link>
        </EmptyState>
      )}
      {leaderboard.simulated.length > 0 && (
        <RankingTable
          title="CPU runtime (simulated)"
          entries={leaderboard.simulated}
          remark="Times on this machine's CPU. They show which of two kernels does less work, not how fast they are on a GPU."
        />
      )}
    </>
  );
}

interface RankingTableProps {
  title: string;
  entries: readonly Entry[];
  remark?: string;
}

function RankingTable({ title, entries, remark }: RankingTableProps): React.JSX.Element {
  const ranked = rank(entries);
  const max = Math.max(...entries.map((entry) => Math.max(entry.avg_runtime_ms, entry.ci?.[1] ?? 0)));
  const hasFloor = entries.some((entry) => entry.pct_of_floor !== null);
  const hasTies = ranked.some(({ tied }) => tied);
  return (
    <section className="card stack" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p className="dim small ranking-remark">
          {remark ?? "The best time of each user."} Whiskers are 95% confidence intervals.
          {hasTies && " Entries with overlapping intervals share a rank, marked =."}
          {hasFloor && " 100% of roofline is the limit of the GPU."}
        </p>
      </div>
      <table className="ranking">
        <thead>
          <tr>
            <th className="number">Rank</th>
            <th>User</th>
            <th className="ranking-bar">
              <span>Time, geometric mean over all cases</span>
            </th>
            <th className="number">Time</th>
            <th className="number wide-only">Throughput</th>
            {hasFloor && <th className="number">Of roofline</th>}
            <th className="wide-only">dtype</th>
          </tr>
        </thead>
        <tbody>
          {ranked.map((item) => (
            <Row
              key={`${item.entry.user}/${item.entry.dtype}`}
              ranked={item}
              max={max}
              hasFloor={hasFloor}
            />
          ))}
        </tbody>
      </table>
      <p className="hidden">{plural(entries.length, "entry", "entries")}</p>
    </section>
  );
}

interface RowProps {
  ranked: Ranked<Entry>;
  max: number;
  hasFloor: boolean;
}

function Row({ ranked, max, hasFloor }: RowProps): React.JSX.Element {
  const { entry, rank: position, tied } = ranked;
  return (
    <tr>
      <td className="number">
        {position}
        {tied && <span aria-label="tied">=</span>}
      </td>
      <td>
        {entry.submission_id === null ? (
          entry.user
        ) : (
          <Link href={`/submissions/${entry.submission_id}`}>{entry.user}</Link>
        )}
      </td>
      <td className="ranking-bar">
        <IntervalBar value={entry.avg_runtime_ms} ci={entry.ci} max={max} />
      </td>
      <td className="number">{runtime(entry.avg_runtime_ms)}</td>
      <td className="number wide-only">{gflops(entry.avg_gflops)}</td>
      {hasFloor && (
        <td className="number">{percent(entry.pct_of_floor)}</td>
      )}
      <td className="wide-only">{entry.dtype}</td>
    </tr>
  );
}
