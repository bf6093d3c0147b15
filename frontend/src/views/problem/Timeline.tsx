/** A run as it goes: one line a stage, each with what is known and how long it took. */
import type { ReactNode } from "react";
import { dollars, plural, roughly, runtime, span } from "../../lib/format";
import { bootProgress, isFailure, type Boot, type Stage, type Story } from "../../lib/story";
import type { CaseResult, Timing } from "../../lib/types";
import { Dots } from "../../parts/figures/Dots";
import { Progress } from "../../parts/Progress";

interface Props {
  story: Story;
  /** By the service's clock. */
  nowMs: number;
  cuts: number;
  /** Samples appear one after the other. */
  live: boolean;
}

type State = "todo" | "now" | "done" | "failed" | "skipped";

const ORDER: Stage[] = ["sending", "queue", "boot", "compile", "check", "benchmark", "done"];

export function Timeline({ story, nowMs, cuts, live }: Props): React.JSX.Element {
  const benchmarks = story.endpoint !== "checker";
  return (
    <div className="timeline">
      {cuts > 0 && (
        <p className="note warn small" role="status">
          The line to the service was cut. Trying again; nothing is lost.
        </p>
      )}
      <ol>
        <Row name="Queue" state={stateOf(story, "queue")} took={took(story, "queue", nowMs)}>
          {queueText(story)}
        </Row>
        <Row name="Machine" state={stateOf(story, "boot")} took={took(story, "boot", nowMs)}>
          <Machine story={story} nowMs={nowMs} />
        </Row>
        <Row name="Compile" state={stateOf(story, "compile")} took={compileTook(story, nowMs)}>
          {compileText(story)}
        </Row>
        <Row name="Check" state={stateOf(story, "check")} took={took(story, "check", nowMs)}>
          <Cases tests={story.tests} total={story.totalTests} running={story.stage === "check"} />
        </Row>
        {benchmarks && (
          <Row name="Benchmark" state={stateOf(story, "benchmark")} took={took(story, "benchmark", nowMs)}>
            <Timings timings={story.timings} total={story.totalTimings} live={live} onCpu={story.onCpu} />
          </Row>
        )}
      </ol>
    </div>
  );
}

interface RowProps {
  name: string;
  state: State;
  took: string;
  children: ReactNode;
}

const SIGNS: Record<State, string> = { todo: "○", now: "◔", done: "✓", failed: "✗", skipped: "–" };
const STATE_WORDS: Record<State, string> = { todo: "to do", now: "now", done: "done", failed: "failed", skipped: "not reached" };

function Row({ name, state, took: time, children }: RowProps): React.JSX.Element {
  return (
    <li className={`stage ${state}`} data-stage={name} data-state={state}>
      <span className="sign" aria-hidden="true">
        {SIGNS[state]}
      </span>
      <span className="name">
        {name} <span className="hidden">({STATE_WORDS[state]})</span>
      </span>
      <div className="what">{children}</div>
      <span className="took small dim">{time}</span>
    </li>
  );
}

function stateOf(story: Story, stage: Stage): State {
  if (story.ending === null && story.stage === stage) return "now";
  if (story.ending !== null && isFailure(story.ending) && lastReached(story) === stage) return "failed";
  if (story.since[stage] === undefined) {
    // A warm VM needs no boot, and is there as soon as it is taken.
    if (stage === "boot" && story.vm !== null) return "done";
    return story.ending === null ? "todo" : "skipped";
  }
  return "done";
}

/** The stage that it was in when it ended. Whatever does not compile is refused before any VM. */
function lastReached(story: Story): Stage {
  if (story.ending?.status === "COMPILE_ERROR") return "compile";
  const reached = ORDER.filter((stage) => stage !== "done" && story.since[stage] !== undefined);
  return reached.at(-1) ?? "sending";
}

function took(story: Story, stage: Stage, nowMs: number): string {
  const from = story.since[stage];
  if (from === undefined) return "";
  const later = ORDER.slice(ORDER.indexOf(stage) + 1).flatMap((each) => story.since[each] ?? []);
  const to = later.length > 0 ? Math.min(...later) : nowMs;
  return span(Math.max(0, to - from) / 1000);
}

function compileTook(story: Story, nowMs: number): string {
  return story.compileS === null ? took(story, "compile", nowMs) : span(story.compileS);
}

function queueText(story: Story): string {
  if (story.stage === "sending") return "Sending…";
  if (story.position !== null && story.stage === "queue") {
    const quote = story.quote?.wait_s;
    const wait = quote === null || quote === undefined ? "" : `, begins in about ${roughly(quote)}`;
    return story.position === 0 ? `Next in line${wait}` : `${story.position} before you${wait}`;
  }
  return "";
}

function Machine({ story, nowMs }: { story: Story; nowMs: number }): React.JSX.Element {
  const { vm, boot } = story;
  if (vm !== null) {
    const cost = story.ending !== null && "cost_usd" in story.ending ? story.ending.cost_usd : undefined;
    return (
      <span>
        <span className={`badge ${vm.cold ? "info" : "good"}`}>{vm.cold ? "Cold start" : "Warm"}</span> {vm.gpu}
        {vm.simulated && ", simulated on the CPU"}
        {vm.attempt > 1 && `, attempt ${vm.attempt}: the VM before was lost`}
        {cost !== undefined && cost > 0 && `, ${dollars(cost)}${vm.simulated ? " simulated" : ""}`}
      </span>
    );
  }
  if (boot === null) return <span />;
  return <Booting boot={boot} nowMs={nowMs} over={story.ending !== null} />;
}

function Booting({ boot, nowMs, over }: { boot: Boot; nowMs: number; over: boolean }): React.JSX.Element {
  const { elapsedS, expectedS, share, overdueS } = bootProgress(boot, over ? boot.atMs : nowMs);
  const late = overdueS > 1;
  return (
    <div className="booting">
      <span>
        <span className="badge info">Cold start</span> {boot.phase}, {span(elapsedS)}
        {expectedS !== null && ` of about ${roughly(expectedS)}`}
        {late && <strong className="late">: overdue by {span(overdueS)}</strong>}
      </span>
      {!over && <Progress share={share} label="The VM's boot" late={late} />}
      <span className="small dim">{boot.phases.map((each) => `${each.phase} ${span(each.atS)}`).join(" → ")}</span>
    </div>
  );
}

function compileText(story: Story): string {
  if (story.ending?.status === "COMPILE_ERROR" && story.vm === null) return "Refused before any VM was used";
  return story.compiler;
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
        {passed} of {plural(total, "case")} right
        {running && tests.length > 0 && <span className="dim"> · {tests.at(-1)?.name}</span>}
      </span>
      <ol aria-label="Cases">
        {Array.from({ length: total }, (_, at) => {
          const test = tests[at];
          const text = test === undefined ? `Case ${at + 1}: to come` : `${test.name}: ${test.status.toLowerCase()}`;
          return (
            <li key={at} className={test?.status.toLowerCase() ?? ""} title={text}>
              <span className="hidden">{text}</span>
            </li>
          );
        })}
      </ol>
      {failed !== undefined && <span className="failed-case">✗ {failed.name}</span>}
    </div>
  );
}

interface TimingsProps {
  timings: readonly Timing[];
  total: number;
  live: boolean;
  onCpu: boolean;
}

function Timings({ timings, total, live, onCpu }: TimingsProps): React.JSX.Element {
  if (total === 0) return <span />;
  return (
    <div className="timings">
      <span>
        {timings.length} of {plural(total, "case")} timed{onCpu && <span className="dim">, in simulator time</span>}
      </span>
      {timings.map((timing) => (
        <div key={timing.test_id} className="timing">
          <span className="small">
            {timing.name}: <strong>{runtime(timing.runtime_ms)}</strong>{" "}
            <span className="dim">
              ({runtime(timing.ci[0])} to {runtime(timing.ci[1])}, {plural(timing.runs.length, "sample")})
            </span>
          </span>
          <Dots runs={timing.runs} medianMs={timing.runtime_ms} ci={timing.ci} fresh={live} />
        </div>
      ))}
    </div>
  );
}
