/** Who is fastest at a problem: a board for each GPU, and one for the CPU simulator, each with its own scale. */
import { Link, useLocation } from "wouter";
import { get, problems } from "../../lib/api";
import { gflops, percent, plural, runtime } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import { Empty, Failure } from "../../parts/Helping";
import { IntervalBar } from "../../parts/figures/IntervalBar";
import { places, type Placed } from "./places";
import "./leaderboard.css";

interface Best {
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

interface Boards {
  problem: string;
  items: Best[];
  simulated: Best[];
}

export default function Leaderboard({ slug }: { slug: string }): React.JSX.Element {
  useTitle(`Leaderboard of ${slug}`);
  const boards = useQuery(slug, () => get<Boards>(`/leaderboard/${encodeURIComponent(slug)}`));
  if (boards.error !== null && boards.data === null)
    return <Failure error={boards.error} onRetry={boards.again} />;
  return (
    <div className="stack">
      <Head slug={slug} />
      {boards.data === null ? <p className="dim">Loading…</p> : <AllBoards boards={boards.data} />}
    </div>
  );
}

function Head({ slug }: { slug: string }): React.JSX.Element {
  const all = useQuery("problems", problems);
  const [, go] = useLocation();
  return (
    <div className="row">
      <h1 className="grow">Leaderboard</h1>
      <label className="row board-choice">
        <span>Problem</span>
        <select value={slug} onChange={(event) => go(`/leaderboard/${event.target.value}`)}>
          {(all.data?.items ?? [{ slug, title: slug }]).map((each) => (
            <option key={each.slug} value={each.slug}>
              {each.title}
            </option>
          ))}
        </select>
      </label>
      <Link className="button" href={`/problems/${slug}`}>
        Solve it
      </Link>
    </div>
  );
}

function AllBoards({ boards }: { boards: Boards }): React.JSX.Element {
  const gpus = [...new Set(boards.items.map((each) => each.gpu_type))].sort();
  return (
    <>
      {gpus.map((gpu) => (
        <Board key={gpu} title={gpu} entries={boards.items.filter((each) => each.gpu_type === gpu)} />
      ))}
      {boards.items.length === 0 && (
        <Empty>
          Nobody was accepted on a GPU yet.{" "}
          <Link href={`/problems/${boards.problem}`}>Submit a kernel to be the first.</Link>
        </Empty>
      )}
      {boards.simulated.length > 0 && (
        <Board
          title="CPU simulator"
          entries={boards.simulated}
          remark="Times of this machine's CPU. They say which of two kernels does less work, not how fast a GPU is."
        />
      )}
    </>
  );
}

interface BoardProps {
  title: string;
  entries: readonly Best[];
  remark?: string;
}

function Board({ title, entries, remark }: BoardProps): React.JSX.Element {
  const placed = places(entries);
  const most = Math.max(...entries.map((each) => Math.max(each.avg_runtime_ms, each.ci?.[1] ?? 0)));
  const hasFloor = entries.some((each) => each.pct_of_floor !== null);
  const tied = placed.filter((each) => each.tied).length;
  return (
    <section className="card stack" aria-label={title}>
      <div>
        <h2>{title}</h2>
        <p className="dim small board-remark">
          {remark ?? "The best of each user."} The whisker is the 95% confidence interval.
          {tied > 0 && " Those whose intervals overlap share a place, marked =."}
          {hasFloor && " At 100% of the floor the GPU can do no better."}
        </p>
      </div>
      <table className="board">
        <thead>
          <tr>
            <th className="number">Place</th>
            <th>User</th>
            <th className="board-bar">
              <span>Time, geometric mean over the cases</span>
            </th>
            <th className="number">Time</th>
            <th className="number wide-only">Speed</th>
            {hasFloor && <th className="number">Of the floor</th>}
            <th className="wide-only">Type</th>
          </tr>
        </thead>
        <tbody>
          {placed.map((each) => (
            <Row
              key={`${each.entry.user}/${each.entry.dtype}`}
              placed={each}
              most={most}
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
  placed: Placed<Best>;
  most: number;
  hasFloor: boolean;
}

function Row({ placed, most, hasFloor }: RowProps): React.JSX.Element {
  const { entry, place, tied } = placed;
  return (
    <tr>
      <td className="number">
        {place}
        {tied && <span aria-label="tied">=</span>}
      </td>
      <td>
        {entry.submission_id === null ? (
          entry.user
        ) : (
          <Link href={`/submissions/${entry.submission_id}`}>{entry.user}</Link>
        )}
      </td>
      <td className="board-bar">
        <IntervalBar value={entry.avg_runtime_ms} ci={entry.ci} most={most} />
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
