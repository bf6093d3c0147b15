/** The end of a run: what it came to, why, and the next step. */
import { between, figuresOf } from "../../lib/between";
import { cell, count, gbps, gflops, percent, runtime } from "../../lib/format";
import { isFailure, type Ending } from "../../lib/story";
import type { DebugInfo, FailedEvent, Fault, Finding, Timing } from "../../lib/types";
import { HeatMap } from "../../parts/figures/HeatMap";
import { inline } from "../../parts/Markdown";

interface Props {
  ending: Ending;
  /** Shows a line in the editor. */
  onLine: (line: number) => void;
  /** Whether the times belong here too. */
  times?: boolean;
}

/** Below the headline and the timeline, so that nothing moves when it comes. */
export function Verdict({ ending, onLine, times = true }: Props): React.JSX.Element {
  return (
    <div className="verdict stack">
      {isFailure(ending) ? <Failure event={ending} onLine={onLine} /> : <Success event={ending} onLine={onLine} times={times} />}
      {"output" in ending && ending.output.trim() !== "" && (
        <div>
          <h3>It printed</h3>
          <pre className="printed">{ending.output}</pre>
        </div>
      )}
    </div>
  );
}

function Failure({ event, onLine }: { event: FailedEvent; onLine: (line: number) => void }): React.JSX.Element {
  const compiler = event.status === "COMPILE_ERROR";
  return (
    <>
      {compiler ? <pre>{event.message}</pre> : <p>{inline(event.message)}</p>}
      {event.details.fault !== undefined && <Faulted fault={event.details.fault} />}
      {event.debug_info !== undefined && (
        <Where info={event.debug_info} name={event.details.output_name ?? "output"} />
      )}
      <Findings findings={event.details.findings ?? []} onLine={onLine} />
      {event.target !== undefined && event.target !== "" && <p className="note warn">{event.target}</p>}
      {event.hint !== "" && <p className="note info">→ {inline(event.hint)}</p>}
    </>
  );
}

/** Block and thread by name: the first thing to look for in the code. */
function Faulted({ fault }: { fault: Fault }): React.JSX.Element {
  const place = (at: Fault["block"]): string => (at === null ? "unknown" : `(${at.join(", ")})`);
  return (
    <dl className="facts">
      <div>
        <dt>Kernel</dt>
        <dd>
          <code>{fault.kernel}</code>
        </dd>
      </div>
      <div>
        <dt>Block</dt>
        <dd>{place(fault.block)}</dd>
      </div>
      <div>
        <dt>Thread</dt>
        <dd>{place(fault.thread)}</dd>
      </div>
      <div className="wide">
        <dt>What</dt>
        <dd>{fault.detail}</dd>
      </div>
    </dl>
  );
}

function Where({ info, name }: { info: DebugInfo; name: string }): React.JSX.Element {
  return (
    <div className="where">
      {info.grid !== undefined && info.grid !== null && <HeatMap grid={info.grid} name={name} />}
      <div>
        <p className="small dim">
          First differences; the largest of all is {cell(info.max_difference)}, the mean {cell(info.mean_difference)}
        </p>
        <Differences info={info} />
      </div>
    </div>
  );
}

function Differences({ info }: { info: DebugInfo }): React.JSX.Element {
  return (
    <div className="scroll" role="region" aria-label="First differences" tabIndex={0}>
      <table className="differences">
        <thead>
          <tr>
            <th>Index</th>
            <th className="number">Expected</th>
            <th className="number">Yours</th>
            <th className="number">Difference</th>
          </tr>
        </thead>
        <tbody>
          {info.sample_differences.map((each) => (
            <tr key={each.index.join()}>
              <td>
                <code>{each.index.map((at) => `[${at}]`).join("")}</code>
              </td>
              <td className="number">{cell(each.expected)}</td>
              <td className="number">{cell(each.actual)}</td>
              <td className="number">{cell(each.difference)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SuccessProps {
  event: Exclude<Ending, FailedEvent>;
  onLine: (line: number) => void;
  times: boolean;
}

function Success({ event, onLine, times }: SuccessProps): React.JSX.Element {
  const timings = "benchmark_results" in event ? event.benchmark_results : event.status === "BENCHMARKED" ? event.test_results : [];
  const simulated = "simulated" in event && event.simulated;
  return (
    <>
      {times && timings.length > 0 && <TimingTable timings={timings} />}
      {simulated && (
        <p className="small dim">
          On the CPU simulator: the verdict is true, the milliseconds are not a GPU's.
        </p>
      )}
      {"target" in event && event.target !== "" && <p className="note warn">{event.target}</p>}
      {"warnings" in event && <Findings findings={event.warnings ?? []} onLine={onLine} />}
    </>
  );
}

function TimingTable({ timings }: { timings: readonly Timing[] }): React.JSX.Element {
  const floor = timings.some((timing) => timing.pct_of_floor !== null);
  return (
    <div className="scroll" role="region" aria-label="Times" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>Case</th>
            <th className="number">Median</th>
            <th className="number wide-only">95% interval</th>
            <th className="number wide-only">Compute</th>
            <th className="number wide-only">Memory</th>
            {floor && <th className="number wide-only">Of the floor</th>}
          </tr>
        </thead>
        <tbody>
          {timings.map((timing) => (
            <tr key={timing.test_id}>
              <td>
                {timing.name}
                <div className="small dim phone-only">{figuresOf(timing)}</div>
                {timing.note !== "" && <div className="small dim">{timing.note}</div>}
              </td>
              <td className="number">{runtime(timing.runtime_ms)}</td>
              <td className="number wide-only">{between(timing.ci)}</td>
              <td className="number wide-only">{gflops(timing.gflops)}</td>
              <td className="number wide-only">{gbps(timing.gbps)}</td>
              {floor && <td className="number wide-only">{percent(timing.pct_of_floor)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MOST_FINDINGS = 5;

function Findings({ findings, onLine }: { findings: readonly Finding[]; onLine: (line: number) => void }): React.JSX.Element | null {
  if (findings.length === 0) return null;
  return (
    <div>
      <h3>The bug finder saw</h3>
      <ul className="findings">
        {findings.slice(0, MOST_FINDINGS).map((each, at) => (
          <li key={at}>
            <span className={`badge ${each.severity === "error" ? "bad" : "warn"}`}>{each.kind.replaceAll("-", " ")}</span>{" "}
            {each.line !== null && (
              <button className="button plain line" onClick={() => onLine(each.line ?? 1)}>
                line {each.line}
              </button>
            )}{" "}
            {inline(each.message)} <span className="dim">{inline(each.hint)}</span>
            {each.block !== null && each.thread !== null && (
              <span className="dim">
                {" "}
                Block ({each.block.join(", ")}), thread ({each.thread.join(", ")}).
              </span>
            )}
          </li>
        ))}
      </ul>
      {findings.length > MOST_FINDINGS && <p className="dim small">And {count(findings.length - MOST_FINDINGS)} more.</p>}
    </div>
  );
}
