/** The stages of a run, one line per stage, with details and durations. */
import type { ReactNode } from "react";
import { dollars, plural, roughly, span } from "../../lib/format";
import { simulatedTime } from "../../lib/simulatedTime";
import { samplesText, timingInterval, timingNote } from "../../lib/timingText";
import { waitingText } from "../../lib/waitingText";
import { estimateProvisioning, gpuText, hasSimulatedCosts, isFailure, type Provisioning, type Stage, type SubmissionProgress } from "../../lib/submissionProgress";
import type { CaseResult, Timing } from "../../lib/generated";
import { SampleDots } from "../../components/charts/SampleDots";
import { Progress } from "../../components/Progress";
import { TimeValue } from "../../components/TimeValue";

interface Props {
  progress: SubmissionProgress;
  /** By the service's clock. */
  nowMs: number;
  /** Failed connections in a row. */
  failures: number;
  /** Animate the samples. */
  live: boolean;
}

type State = "todo" | "now" | "done" | "failed" | "skipped";

const ORDER: Stage[] = ["sending", "queue", "provisioning", "compile", "check", "benchmark", "done"];

export function Timeline({ progress, nowMs, failures, live }: Props): React.JSX.Element {
  const benchmarks = progress.endpoint !== "checker";
  return (
    <div className="timeline">
      {failures > 0 && (
        <p className="note warn small" role="status">
          Connection lost. Reconnecting; the run continues.
        </p>
      )}
      <ol>
        <Row name="Queue" state={stateOf(progress, "queue")} duration={duration(progress, "queue", nowMs)}>
          {queueText(progress, nowMs)}
        </Row>
        <Row name="VM" state={stateOf(progress, "provisioning")} duration={duration(progress, "provisioning", nowMs)}>
          <VmStage progress={progress} nowMs={nowMs} />
        </Row>
        <Row name="Compile" state={stateOf(progress, "compile")} duration={compileDuration(progress, nowMs)}>
          {compileText(progress)}
        </Row>
        <Row name="Check" state={stateOf(progress, "check")} duration={duration(progress, "check", nowMs)}>
          <Cases tests={progress.tests} total={progress.totalTests} running={progress.stage === "check"} />
        </Row>
        {benchmarks && (
          <Row name="Benchmark" state={stateOf(progress, "benchmark")} duration={duration(progress, "benchmark", nowMs)}>
            <Timings timings={progress.timings} total={progress.totalTimings} live={live} toolchain={progress.toolchain} />
          </Row>
        )}
      </ol>
    </div>
  );
}

interface RowProps {
  name: string;
  state: State;
  duration: string;
  children: ReactNode;
}

const SIGNS: Record<State, string> = { todo: "○", now: "◔", done: "✓", failed: "✗", skipped: "–" };
const STATE_NAMES: Record<State, string> = { todo: "pending", now: "in progress", done: "done", failed: "failed", skipped: "skipped" };

function Row({ name, state, duration: time, children }: RowProps): React.JSX.Element {
  return (
    <li className={`stage ${state}`} data-stage={name} data-state={state}>
      <span className="sign" aria-hidden="true">
        {SIGNS[state]}
      </span>
      <span className="name">
        {name} <span className="hidden">({STATE_NAMES[state]})</span>
      </span>
      <div className="detail">{children}</div>
      <span className="duration small dim">{time}</span>
    </li>
  );
}

function stateOf(progress: SubmissionProgress, stage: Stage): State {
  if (progress.verdict === null && progress.stage === stage) return "now";
  if (progress.verdict !== null && isFailure(progress.verdict) && lastReached(progress) === stage) return "failed";
  if (progress.since[stage] === undefined) {
    // A warm VM needs no provisioning.
    if (stage === "provisioning" && progress.vm !== null) return "done";
    return progress.verdict === null ? "todo" : "skipped";
  }
  return "done";
}

/** The stage in which the run ended. A compile error can be reported before any VM is used. */
function lastReached(progress: SubmissionProgress): Stage {
  if (progress.verdict?.status === "COMPILE_ERROR") return "compile";
  const reached = ORDER.filter((stage) => stage !== "done" && progress.since[stage] !== undefined);
  return reached.at(-1) ?? "sending";
}

function duration(progress: SubmissionProgress, stage: Stage, nowMs: number): string {
  const from = progress.since[stage];
  if (from === undefined) return "";
  const later = ORDER.slice(ORDER.indexOf(stage) + 1).flatMap((next) => progress.since[next] ?? []);
  const to = later.length > 0 ? Math.min(...later) : nowMs;
  return span(Math.max(0, to - from) / 1000);
}

function compileDuration(progress: SubmissionProgress, nowMs: number): string {
  return progress.compileS === null ? duration(progress, "compile", nowMs) : span(progress.compileS);
}

function queueText(progress: SubmissionProgress, nowMs: number): string {
  if (progress.stage === "sending") return "Sending…";
  if (progress.waiting !== null && progress.stage === "queue") {
    return waitingText(progress.waiting.event, (nowMs - progress.waiting.atMs) / 1000);
  }
  if (progress.position !== null && progress.stage === "queue") {
    const seconds = progress.quote?.wait_s;
    const wait = seconds === undefined ? "" : `, starts in about ${roughly(seconds)}`;
    return progress.position === 0 ? `Next in queue${wait}` : `${progress.position} ahead of you${wait}`;
  }
  return "";
}

function VmStage({ progress, nowMs }: { progress: SubmissionProgress; nowMs: number }): React.JSX.Element {
  const { vm, provisioning } = progress;
  if (vm !== null) {
    const cost = progress.verdict !== null && "cost_usd" in progress.verdict ? (progress.verdict.cost_usd ?? 0) : 0;
    return (
      <span>
        <span className={`badge ${vm.cold ? "info" : "good"}`}>{vm.cold ? "Cold start" : "Warm start"}</span> {gpuText(vm)}
        {vm.attempt > 1 && `, attempt ${vm.attempt}: the previous VM could not judge it`}
        {cost > 0 && `, ${dollars(cost)}${hasSimulatedCosts(vm) ? " simulated" : ""}`}
      </span>
    );
  }
  if (provisioning === null) return <span />;
  return <ProvisioningVm provisioning={provisioning} nowMs={nowMs} ended={progress.verdict !== null} />;
}

interface ProvisioningProps {
  provisioning: Provisioning;
  nowMs: number;
  ended: boolean;
}

function ProvisioningVm({ provisioning, nowMs, ended }: ProvisioningProps): React.JSX.Element {
  const { phase, phases, atMs } = provisioning;
  const { elapsedS, expectedS, share, overdueS } = estimateProvisioning(provisioning, ended ? atMs : nowMs);
  const late = overdueS > 1;
  return (
    <div className="provisioning">
      <span>
        <span className="badge info">Cold start</span> {phase}, {span(elapsedS)}
        {expectedS !== null && ` of about ${roughly(expectedS)}`}
        {late && <strong className="late">: overdue by {span(overdueS)}</strong>}
      </span>
      {!ended && <Progress share={share} label="VM provisioning" late={late} />}
      <span className="small dim">{phases.map((entry) => `${entry.phase} ${span(entry.atS)}`).join(" → ")}</span>
    </div>
  );
}

function compileText(progress: SubmissionProgress): string {
  if (progress.verdict?.status === "COMPILE_ERROR" && progress.vm === null) return "Rejected before a VM was used";
  return progress.compiler;
}

interface CasesProps {
  tests: readonly CaseResult[];
  total: number;
  running: boolean;
}

function Cases({ tests, total, running }: CasesProps): React.JSX.Element {
  if (total === 0) return <span />;
  const passed = tests.filter((test) => test.status === "PASSED").length;
  const failed = tests.find((test) => test.status === "FAILED");
  return (
    <div className="cases">
      <span>
        {passed} of {plural(total, "case")} passed
        {running && tests.length > 0 && <span className="dim"> · {tests.at(-1)?.name}</span>}
      </span>
      <ol aria-label="Cases">
        {Array.from({ length: total }, (_, index) => {
          const test = tests[index];
          const text = test === undefined ? `Case ${index + 1}: pending` : `${test.name}: ${test.hidden === true ? "hidden, " : ""}${test.status.toLowerCase()}`;
          return (
            <li key={index} className={`${test?.status.toLowerCase() ?? ""} ${test?.own === true ? "own" : ""}`} title={text}>
              <span className="hidden">{text}</span>
            </li>
          );
        })}
      </ol>
      {tests
        .filter((test) => test.own === true)
        .map((test) => (
          <span key={test.test_id} className={test.status === "FAILED" ? "failed-case" : ""}>
            {test.status === "FAILED" ? "✗" : "✓"} <span className="badge info">own</span> {test.name.replace(/^own: /, "")}
          </span>
        ))}
      {failed !== undefined && failed.own !== true && (
        <span className="failed-case">✗ {failed.name}{failed.hidden === true && " (hidden)"}</span>
      )}
    </div>
  );
}

/** Toolchains without a GPU. */
const SIMULATED = new Set(["cpu", "stub", "rocjitsu"]);

interface TimingsProps {
  timings: readonly Timing[];
  total: number;
  live: boolean;
  toolchain: string;
}

function Timings({ timings, total, live, toolchain }: TimingsProps): React.JSX.Element {
  if (total === 0) return <span />;
  return (
    <div className="timings">
      <span>
        {timings.length} of {plural(total, "case")} timed{SIMULATED.has(toolchain) && <span className="dim">, {simulatedTime(toolchain)}</span>}
      </span>
      {timings.map((timing) => (
        <div key={timing.test_id} className="timing">
          <span className="small">
            {timing.name}: <TimeValue ms={timing.runtime_ms} ci={timingInterval(timing)} noisy={timing.noisy} />{" "}
            <span className="dim">
              · {samplesText(timing)}
              {timingNote(timing) !== "" && `; ${timingNote(timing)}`}
            </span>
          </span>
          <SampleDots runs={timing.runs} medianMs={timing.runtime_ms} ci={timingInterval(timing)} name={timing.name} animate={live} />
        </div>
      ))}
    </div>
  );
}
