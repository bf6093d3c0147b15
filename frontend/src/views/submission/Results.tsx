/** What the judge found: the verdict in words, each case, the distribution of its samples, and the roofline. */
import { gbps, gflops, percent, plural, runtime } from "../../lib/format";
import { Verdict } from "../problem/Verdict";
import "../problem/problem.css";
import { between, figuresOf } from "../../lib/between";
import type { Story } from "../../lib/story";
import type { CaseResult, Gpu, SubmissionDetail, Timing } from "../../lib/types";
import { Badge } from "../../parts/Badge";
import { Progress } from "../../parts/Progress";
import { ceilings, points } from "../../parts/figures/ceilings";
import { Histogram } from "../../parts/figures/Histogram";
import { Roofline } from "../../parts/figures/Roofline";

interface Props {
  each: SubmissionDetail;
  story: Story;
  gpu: Gpu | undefined;
  /** Shows a line of the code. */
  onLine: (line: number) => void;
}

export function Results({ each, story, gpu, onLine }: Props): React.JSX.Element {
  return (
    <>
      {story.ending !== null && (
        <section className="card" aria-label="Verdict">
          <Verdict ending={story.ending} onLine={onLine} times={false} />
        </section>
      )}
      {story.ending === null &&
        (each.verdict === null ? <Running story={story} /> : <p className="dim">Loading…</p>)}
      {(story.tests.length > 0 || story.timings.length > 0) && (
        <Cases story={story} simulated={each.simulated} />
      )}
      {story.timings.length > 0 && <Distributions timings={story.timings} />}
      {story.timings.length > 0 && gpu !== undefined && (
        <RooflineCard each={each} timings={story.timings} gpu={gpu} />
      )}
    </>
  );
}

const STAGES: Record<string, string> = {
  sending: "Waiting for the first event",
  queue: "In the queue",
  boot: "A VM is booting",
  compile: "Compiling",
  check: "Checking",
  benchmark: "Timing",
};

function Running({ story }: { story: Story }): React.JSX.Element {
  const [done, all] =
    story.stage === "benchmark"
      ? [story.timings.length, story.totalTimings]
      : [story.tests.length, story.totalTests];
  const title = STAGES[story.stage] ?? "Running";
  return (
    <div className="card stack" role="status">
      <span>
        {title}
        {all > 0 && <span className="dim"> · {`${done} of ${plural(all, "case")}`}</span>}
      </span>
      <Progress share={all > 0 ? done / all : null} label={title} />
    </div>
  );
}

function Cases({ story, simulated }: { story: Story; simulated: boolean }): React.JSX.Element {
  const timed = new Map(story.timings.map((timing) => [timing.test_id, timing]));
  const hasFloor = story.timings.some((timing) => timing.pct_of_floor !== null);
  const hasTimes = story.timings.length > 0;
  // A retried attempt may have timings whose check was told before this page listened.
  const rows: CaseResult[] =
    story.tests.length > 0 ? story.tests : story.timings.map((t) => ({ ...t, status: "PASSED" }));
  return (
    <section className="card stack" aria-label="Cases">
      <h2>Cases</h2>
      <div className="scroll" role="region" aria-label="Table of cases" tabIndex={0}>
        <table className="case-table">
          <thead>
            <tr>
              <th className="number">Case</th>
              <th>What</th>
              <th>Check</th>
              {hasTimes && (
                <>
                  <th className="number">
                    <span className="wide-only">{simulated ? "Simulator time" : "Time"}</span>
                    <span className="phone-only">Time</span>
                  </th>
                  <th className="number wide-only">95% interval</th>
                  <th className="number wide-only">Speed</th>
                  <th className="number wide-only">Bandwidth</th>
                  {hasFloor && <th className="number wide-only">Of the floor</th>}
                  <th className="number wide-only">Samples</th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <CaseRow
                key={row.test_id}
                row={row}
                timing={timed.get(row.test_id)}
                hasTimes={hasTimes}
                hasFloor={hasFloor}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface RowProps {
  row: CaseResult;
  timing: Timing | undefined;
  hasTimes: boolean;
  hasFloor: boolean;
}

function CaseRow({ row, timing, hasTimes, hasFloor }: RowProps): React.JSX.Element {
  return (
    <tr>
      <td className="number">{row.test_id}</td>
      <td>
        {row.name}
        {timing !== undefined && <div className="dim small phone-only">{figuresOf(timing)}</div>}
        {timing !== undefined && timing.note !== "" && <div className="dim small">{timing.note}</div>}
      </td>
      <td>
        <Badge status={row.status} />
      </td>
      {hasTimes && (
        <>
          <td className="number">{runtime(timing?.runtime_ms)}</td>
          <td className="number dim wide-only">{timing === undefined ? "–" : between(timing.ci)}</td>
          <td className="number wide-only">{gflops(timing?.gflops)}</td>
          <td className="number wide-only">{gbps(timing?.gbps)}</td>
          {hasFloor && <td className="number wide-only">{percent(timing?.pct_of_floor)}</td>}
          <td className="number wide-only">{timing?.runs.length ?? "–"}</td>
        </>
      )}
    </tr>
  );
}

function Distributions({ timings }: { timings: readonly Timing[] }): React.JSX.Element {
  return (
    <section className="card stack" aria-label="Distribution of samples">
      <div>
        <h2>Distribution of the samples</h2>
        <p className="dim small submission-remark">
          Samples in each span of time; the line is the median, the band its 95% interval.
        </p>
      </div>
      <div className="distributions">
        {timings.map((timing) => (
          <div key={timing.test_id}>
            <h3 className="small">
              {timing.test_id}. {timing.name}
            </h3>
            <Histogram samples={timing.runs} median={timing.runtime_ms} ci={timing.ci} label={timing.name} />
          </div>
        ))}
      </div>
    </section>
  );
}

interface RooflineProps {
  each: SubmissionDetail;
  timings: readonly Timing[];
  gpu: Gpu;
}

function RooflineCard({ each, timings, gpu }: RooflineProps): React.JSX.Element {
  const limits = ceilings(gpu, each.dtype);
  const found = points(timings);
  return (
    <section className="card stack" aria-label="Roofline">
      <div>
        <h2>Roofline of {gpu.name}</h2>
        <p className="dim small submission-remark">
          {each.simulated
            ? "The ceilings are the GPU’s, the points this machine’s CPU: their heights say nothing of the kernel on a GPU."
            : "The nearer to the roof, the less is left to gain. Left of the corner memory is the limit, right of it arithmetic."}
        </p>
      </div>
      {limits === null || found.length === 0 ? (
        <p className="dim">
          This problem counts no FLOPs, so it has no place here; the table has its bandwidth.
        </p>
      ) : (
        <>
          <Roofline limits={limits} points={found} />
          <ol className="roofline-legend small">
            {found.map((point) => (
              <li key={point.test_id}>
                <strong>{point.test_id}</strong> {point.name}: {gflops(point.gflops)}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
