/** The leaderboard of a problem: a table per GPU, and one for simulated results, each with its own scale. */
import { Link, useLocation, useSearchParams } from "wouter";
import { leaderboard, problems } from "../../lib/api";
import { gflops, percent, plural } from "../../lib/format";
import type { LeaderboardEntry, LeaderboardResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { EmptyState, ErrorMessage } from "../../components/MessagePage";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { NoisyLabel, TimeValue } from "../../components/TimeValue";
import "./leaderboard.css";

export default function Leaderboard({ slug }: { slug: string }): React.JSX.Element {
  useTitle(`Leaderboard of ${slug}`);
  const [search] = useSearchParams();
  const team = search.get("team");
  const query = useQuery(`${slug} ${team ?? ""}`, () => leaderboard(slug, team));
  if (query.error !== null && query.data === null)
    return <ErrorMessage error={query.error} onRetry={query.refetch} />;
  return (
    <div className="stack">
      <Head slug={slug} />
      {team !== null && (
        <p className="note">
          Only members of the team {team} are ranked. <Link href={`/leaderboard/${slug}`}>Show everyone</Link>
        </p>
      )}
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
  const gpus = gpuTypes(response.items);
  const simulated = gpuTypes(response.simulated);
  return (
    <>
      {gpus.map((gpu) => (
        <RankingTable key={gpu} title={gpu} entries={response.items.filter((entry) => entry.gpu_type === gpu)} />
      ))}
      {response.items.length === 0 && (
        <EmptyState>
          No submission has been accepted on a GPU yet.{" "}
          <Link href={`/problems/${response.problem}`}>Submit the first one</Link>
        </EmptyState>
      )}
      {simulated.map((gpu) => (
        <RankingTable
          key={gpu}
          title={simulated.length === 1 ? "CPU runtime (simulated)" : `CPU runtime (simulated), ${gpu}`}
          entries={response.simulated.filter((entry) => entry.gpu_type === gpu)}
          remark="CPU time of one core. It shows which of two kernels does less work, not how fast they are on a GPU."
        />
      ))}
    </>
  );
}

function gpuTypes(entries: readonly LeaderboardEntry[]): string[] {
  return [...new Set(entries.map((entry) => entry.gpu_type))].sort();
}

interface RankingTableProps {
  title: string;
  entries: readonly LeaderboardEntry[];
  remark?: string;
}

function RankingTable({ title, entries, remark }: RankingTableProps): React.JSX.Element {
  const max = Math.max(...entries.map((entry) => Math.max(entry.avg_runtime_ms, entry.ci?.[1] ?? 0)));
  const hasFloor = entries.some((entry) => entry.pct_of_floor !== null);
  const hasTies = entries.some(({ tied }) => tied);
  const hasNoise = entries.some(({ noisy }) => noisy);
  const hasUnknown = entries.some(({ ci }) => ci === null);
  return (
    <section className="card stack" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p className="dim small ranking-remark">
          {remark ?? "The best time of each user."} Whiskers and brackets are 95% confidence intervals. A rank is 1 plus the number of
          entries whose whole interval is faster{hasTies ? "; = marks a tie." : "."}
          {hasUnknown && " An unknown interval counts as 10% to either side."}
          {hasFloor && " 100% of roofline is the limit of the GPU."}
        </p>
        {hasNoise && (
          <p className="dim small ranking-remark">
            <NoisyLabel /> The machine was busy during this measurement, so its interval is wide.
          </p>
        )}
      </div>
      <table className="ranking">
        <thead>
          <tr>
            <th className="number">Rank</th>
            <th>User</th>
            <th className="ranking-bar">
              <span>Time, geometric mean over all cases</span>
            </th>
            <th className="number">Time (95% interval)</th>
            <th className="number wide-only">Throughput</th>
            {hasFloor && <th className="number">Of roofline</th>}
            <th className="wide-only">dtype</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <Row
              key={`${entry.user}/${entry.dtype}`}
              entry={entry}
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
  entry: LeaderboardEntry;
  max: number;
  hasFloor: boolean;
}

function Row({ entry, max, hasFloor }: RowProps): React.JSX.Element {
  return (
    <tr>
      <td className="number">
        {entry.tied && <span aria-label="tied">=</span>}
        {entry.rank}
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
      <td className="number">
        <TimeValue ms={entry.avg_runtime_ms} ci={entry.ci} noisy={entry.noisy} stacked />
      </td>
      <td className="number wide-only">{gflops(entry.avg_gflops)}</td>
      {hasFloor && (
        <td className="number">{percent(entry.pct_of_floor)}</td>
      )}
      <td className="wide-only">{entry.dtype}</td>
    </tr>
  );
}
