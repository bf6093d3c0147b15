/** The leaderboard of a problem: a table per GPU, and one for simulated results, each with its own scale. */
import { Link, useLocation } from "wouter";
import { leaderboard, problems } from "../../lib/api";
import { gflops, percent, plural, runtime } from "../../lib/format";
import type { LeaderboardEntry, LeaderboardResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { rank, type Ranked } from "./ranking";
import "./leaderboard.css";

export default function Leaderboard({ slug }: { slug: string }): React.JSX.Element {
  useTitle(`Leaderboard of ${slug}`);
  const query = useQuery(slug, () => leaderboard(slug));
  if (query.error !== null && query.data === null)
    return <ErrorMessage error={query.error} onRetry={query.refetch} />;
  return (
    <div className="stack">
      <Head slug={slug} />
      {query.data === null ? <p className="dim">Loading…</p> : <Tables response={query.data} />}
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

function Tables({ response }: { response: LeaderboardResponse }): React.JSX.Element {
  const gpus = [...new Set(response.items.map((entry) => entry.gpu_type))].sort();
  return (
    <>
      {gpus.map((gpu) => (
        <RankingTable key={gpu} title={gpu} entries={response.items.filter((entry) => entry.gpu_type === gpu)} />
      ))}
      {response.items.length === 0 && (
        <EmptyState>
          No submission was accepted on a GPU yet.{" "}
          <Link href={`/problems/${response.problem}`}>Submit the first one</Link>
        </EmptyState>
      )}
      {response.simulated.length > 0 && (
        <RankingTable
          title="CPU runtime (simulated)"
          entries={response.simulated}
          remark="Times on this machine's CPU. They show which of two kernels does less work, not how fast they are on a GPU."
        />
      )}
    </>
  );
}

interface RankingTableProps {
  title: string;
  entries: readonly LeaderboardEntry[];
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
  ranked: Ranked<LeaderboardEntry>;
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
