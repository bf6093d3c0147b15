/** The results of a submission: the verdict, the cases, the distribution of samples, and the roofline. */
import { useMemo, useState } from "react";
import { capitalized, gbps, gflops, percent, plural } from "../../lib/format";
import { simulatedTime } from "../../lib/simulatedTime";
import { VerdictDetails } from "../problem/VerdictDetails";
import "../problem/problem.css";
import { intervalText, medianText, timingInterval, timingNote, timingSummary } from "../../lib/timingText";
import type { SubmissionProgress } from "../../lib/submissionProgress";
import type { CaseResult, GpuRoofs, SubmissionDetailResponse, Timing } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { Progress } from "../../components/Progress";
import { NoisyLabel } from "../../components/TimeValue";
import { Windows } from "./Windows";
import { ReceiptCard } from "./ReceiptCard";
import { ceilings, floorShare, otherRoofs, points, ridge, type Ceilings, type FloorShare, type Point } from "../../components/charts/rooflineModel";
import { Histogram } from "../../components/charts/Histogram";
import { SampleDots } from "../../components/charts/SampleDots";
import { Roofline } from "../../components/charts/Roofline";

interface Props {
  submission: SubmissionDetailResponse;
  progress: SubmissionProgress;
  gpu: GpuRoofs | undefined;
  /** Show a line of the source. */
  onLine: (line: number) => void;
}

export function Results({ submission, progress, gpu, onLine }: Props): React.JSX.Element {
  return (
    <>
      {progress.verdict !== null && (
        <section className="card" aria-label="Verdict">
          <h2 className="hidden">Verdict</h2>
          <VerdictDetails verdict={progress.verdict} toolchain={progress.toolchain} onLine={onLine} times={false} />
        </section>
      )}
      {progress.verdict === null &&
        (submission.verdict === null ? <Running progress={progress} /> : <p className="dim">Loading…</p>)}
      {(progress.tests.length > 0 || progress.timings.length > 0) && (
        <Cases progress={progress} simulated={submission.simulated} />
      )}
      {progress.timings.length > 0 && <Distributions timings={progress.timings} />}
      <Windows id={submission.id} timings={progress.timings} />
      {progress.timings.length > 0 && gpu !== undefined && (
        <RooflineCard submission={submission} timings={progress.timings} gpu={gpu} />
      )}
      {progress.verdict?.status === "ACCEPTED" && <ReceiptCard id={submission.id} accepted={progress.verdict} />}
    </>
  );
}

const STAGES: Record<string, string> = {
  sending: "Waiting for the first event",
  queue: "Queued",
  provisioning: "Provisioning a VM",
  compile: "Compiling",
  check: "Checking",
  benchmark: "Timing",
};

function Running({ progress }: { progress: SubmissionProgress }): React.JSX.Element {
  const [done, all] =
    progress.stage === "benchmark"
      ? [progress.timings.length, progress.totalTimings]
      : [progress.tests.length, progress.totalTests];
  const title = STAGES[progress.stage] ?? "Running";
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

function Cases({ progress, simulated }: { progress: SubmissionProgress; simulated: boolean }): React.JSX.Element {
  const timed = new Map(progress.timings.map((timing) => [timing.test_id, timing]));
  const hasFloor = progress.timings.some((timing) => typeof timing.pct_of_floor === "number");
  const hasTimes = progress.timings.length > 0;
  // The events of a retried attempt may have timings but no checks; a timed case has passed.
  const rows: CaseResult[] =
    progress.tests.length > 0 ? progress.tests : progress.timings.map((t) => ({ ...t, status: "PASSED" }));
  return (
    <section className="card stack" aria-label="Cases">
      <h2>Cases</h2>
      <div className="scroll" role="region" aria-label="Table of cases" tabIndex={0}>
        <table className="case-table">
          <thead>
            <tr>
              <th className="number">Case</th>
              <th>Inputs</th>
              <th>Check</th>
              {hasTimes && (
                <>
                  <th className="number">
                    <span className="wide-only">{simulated ? capitalized(simulatedTime(progress.toolchain)) : "Time"}</span>
                    <span className="phone-only">Time</span>
                  </th>
                  <th className="number wide-only">95% interval</th>
                  <th className="number wide-only">Throughput</th>
                  <th className="number wide-only">Bandwidth</th>
                  {hasFloor && <th className="number wide-only">Of roofline</th>}
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
        {row.name} {row.hidden === true && <HiddenLabel />}
        {timing !== undefined && <div className="dim small phone-only">{timingSummary(timing)}</div>}
        {timing !== undefined && timingNote(timing) !== "" && <div className="dim small">{timingNote(timing)}</div>}
      </td>
      <td>
        <Badge status={row.status} />
      </td>
      {hasTimes && (
        <>
          <td className="number">
            {timing === undefined ? "–" : medianText(timing.runtime_ms, timingInterval(timing))}
            {timing?.noisy === true && (
              <div>
                <NoisyLabel />
              </div>
            )}
          </td>
          <td className="number dim wide-only">{timing === undefined ? "–" : intervalText(timingInterval(timing))}</td>
          <td className="number wide-only">{gflops(timing?.gflops)}</td>
          <td className="number wide-only">{gbps(timing?.gbps)}</td>
          {hasFloor && <td className="number wide-only">{percent(timing?.pct_of_floor)}</td>}
          <td className="number wide-only">{timing?.runs.length ?? "–"}</td>
        </>
      )}
    </tr>
  );
}

function HiddenLabel(): React.JSX.Element {
  return (
    <span className="badge" title="Its sizes were drawn from the secret seed of this submission.">
      hidden
    </span>
  );
}

function Distributions({ timings }: { timings: readonly Timing[] }): React.JSX.Element {
  return (
    <section className="card stack" aria-label="Distribution of samples">
      <div>
        <h2>Distribution of samples</h2>
        <p className="dim small submission-remark">
          Number of samples by time, one per pair of windows. The line is the median, and the band is its 95% confidence interval. The interval
          includes differences between runs, so it can be wider than the range of the samples.
        </p>
      </div>
      <div className="distributions">
        {timings.map((timing) => (
          <div key={timing.test_id}>
            <h3 className="small">
              {timing.test_id}. {timing.name}
            </h3>
            <Histogram
              samples={timing.runs}
              median={timing.runtime_ms}
              ci={timingInterval(timing)}
              label={timing.name}
            />
            <InOrder timing={timing} />
          </div>
        ))}
      </div>
    </section>
  );
}

/** The samples in the order of measurement, where a drift or a disturbance is visible; drawn on request. */
function InOrder({ timing }: { timing: Timing }): React.JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details className="small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>In order of measurement</summary>
      {open && <SampleDots runs={timing.runs} medianMs={timing.runtime_ms} ci={timingInterval(timing)} name={timing.name} />}
    </details>
  );
}

interface RooflineProps {
  submission: SubmissionDetailResponse;
  timings: readonly Timing[];
  gpu: GpuRoofs;
}

function RooflineCard({ submission, timings, gpu }: RooflineProps): React.JSX.Element {
  const limits = useMemo(() => ceilings(gpu, submission.dtype, timings), [gpu, submission.dtype, timings]);
  const roofs = useMemo(() => (limits === null ? [] : otherRoofs(gpu, limits)), [gpu, limits]);
  const casePoints = useMemo(() => points(timings), [timings]);
  return (
    <section className="card stack" aria-label="Roofline">
      <div>
        <h2>Roofline of {gpu.name}</h2>
        <p className="dim small submission-remark">
          {submission.simulated
            ? "The ceilings are those of the GPU, but the points were measured on this machine’s CPU and say nothing about the kernel’s speed on a GPU."
            : "The closer a point is to the roof, the less can be gained. Left of the ridge point a kernel is memory-bound, right of it compute-bound."}
        </p>
      </div>
      {limits === null || casePoints.length === 0 ? (
        <p className="dim">
          This problem has no FLOP count, so there is no roofline. The table shows the bandwidth.
        </p>
      ) : (
        <>
          <FloorText share={floorShare(timings)} limits={limits} points={casePoints} />
          <Roofline limits={limits} roofs={roofs} points={casePoints} />
        </>
      )}
    </section>
  );
}

interface FloorTextProps {
  /** Null for simulated results, which have no floor. */
  share: FloorShare | null;
  limits: Ceilings;
  points: readonly Point[];
}

/** "You are at 43% of the floor", and what that refers to. */
function FloorText({ share, limits, points: casePoints }: FloorTextProps): React.JSX.Element | null {
  if (share === null) return null;
  const bound = casePoints.filter((point) => point.intensity < ridge(limits)).length;
  const memory = `memory bandwidth, ${gbps(limits.bandwidth_bytes_per_s / 1e9)}`;
  const arithmetic = `arithmetic, ${gflops(limits.flops_per_s / 1e9)}`;
  const tightest = bound === casePoints.length ? memory : bound === 0 ? arithmetic : `${memory}, or ${arithmetic}, by case`;
  return (
    <p>
      You are at <strong>{Math.round(share.mean)}% of the floor</strong>: the least time that the tightest roof of {limits.gpu} allows ({tightest}),
      divided by your median time
      {share.cases > 1 && `; geometric mean of ${share.cases} cases, ${percent(share.lowest)} to ${percent(share.highest)}`}. The dashed roofs bound only
      parts of a kernel, such as data that is read again from a cache; they are not in the floor.
    </p>
  );
}
