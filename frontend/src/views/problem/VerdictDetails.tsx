/** The details of a verdict: the reason, the evidence, and a hint. */
import { intervalText, medianText, NOISY_EXPLANATION, timingInterval, timingNote, timingSummary } from "../../lib/timingText";
import { cell, count, gbps, gflops, percent, plural } from "../../lib/format";
import { simulationNote } from "../../lib/simulatedTime";
import { isFailure, type VerdictEvent } from "../../lib/submissionProgress";
import type { BufferValues, FailedEvent, Fault, Finding, Timing } from "../../lib/generated";
import { inline } from "../../components/Markdown";
import { NoisyLabel } from "../../components/TimeValue";
import { ProgramOutput } from "./ProgramOutput";
import { OtherFailedCases, WrongOutput } from "./WrongOutput";

interface Props {
  verdict: VerdictEvent;
  toolchain: string;
  /** Show a line in the editor. */
  onLine: (line: number) => void;
  /** Whether to include the table of times. */
  times?: boolean;
}

export function VerdictDetails({ verdict, toolchain, onLine, times = true }: Props): React.JSX.Element {
  return (
    <div className="verdict stack">
      {isFailure(verdict) ? <Failure event={verdict} onLine={onLine} /> : <Success event={verdict} toolchain={toolchain} onLine={onLine} times={times} />}
      <Buffers buffers={("buffers" in verdict ? verdict.buffers : isFailure(verdict) ? verdict.details.buffers : undefined) ?? []} />
      <ProgramOutput verdict={verdict} />
    </div>
  );
}

function Failure({ event, onLine }: { event: FailedEvent; onLine: (line: number) => void }): React.JSX.Element {
  const isCompileError = event.status === "COMPILE_ERROR";
  const { debug_info: debugInfo = null, target } = event;
  const { fault = null } = event.details;
  return (
    <>
      {isCompileError ? <pre>{event.message}</pre> : <p>{inline(event.message)}</p>}
      {fault !== null && <FaultLocation fault={fault} />}
      {debugInfo !== null && <WrongOutput info={debugInfo} name={event.details.output_name ?? "output"} />}
      <OtherFailedCases cases={event.details.failed_cases ?? []} total={event.total_tests ?? 0} />
      <Findings findings={event.details.findings ?? []} onLine={onLine} />
      {target !== undefined && target !== null && target !== "" && <p className="note warn">{target}</p>}
      {event.hint !== "" && <p className="note info">→ {inline(event.hint)}</p>}
    </>
  );
}

/** The buffers of a scratch kernel after its launch. */
function Buffers({ buffers }: { buffers: readonly BufferValues[] }): React.JSX.Element | null {
  if (buffers.length === 0) return null;
  return (
    <section className="stack buffers" aria-label="Buffers">
      {buffers.map(({ name, type, count: elements, values, unwritten }) => (
        <div key={name}>
          <h3>
            <code>{name}</code>{" "}
            <span className="dim small">
              {type}, {plural(elements, "element")}
              {unwritten > 0 && `, ${count(unwritten)} never written`}
            </span>
          </h3>
          <pre className="buffer-values" tabIndex={0} aria-label={`Values of ${name}`}>
            {values.map(cell).join(", ")}
            {values.length < elements && ", …"}
          </pre>
        </div>
      ))}
    </section>
  );
}

/** The kernel, block and thread of a fault. */
function FaultLocation({ fault }: { fault: Fault }): React.JSX.Element {
  const format = (index: Fault["block"]): string => (index === null ? "unknown" : `(${index.join(", ")})`);
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
        <dd>{format(fault.block)}</dd>
      </div>
      <div>
        <dt>Thread</dt>
        <dd>{format(fault.thread)}</dd>
      </div>
      <div className="wide">
        <dt>Fault</dt>
        <dd>{fault.detail}</dd>
      </div>
    </dl>
  );
}

interface SuccessProps {
  event: Exclude<VerdictEvent, FailedEvent>;
  toolchain: string;
  onLine: (line: number) => void;
  times: boolean;
}

function Success({ event, toolchain, onLine, times }: SuccessProps): React.JSX.Element {
  const timings = "benchmark_results" in event ? event.benchmark_results : event.status === "BENCHMARKED" ? event.test_results : [];
  const simulated = "simulated" in event && event.simulated;
  return (
    <>
      {times && timings.length > 0 && <TimingTable timings={timings} />}
      {timings.some((timing) => timing.noisy) && (
        <p className="note warn">
          <NoisyLabel /> {NOISY_EXPLANATION}
        </p>
      )}
      <MissingGuarantees timings={timings} />
      {simulated && (
        <p className="small dim">{simulationNote(toolchain)}</p>
      )}
      {"target" in event && event.target !== "" && <p className="note warn">{event.target}</p>}
      {"warnings" in event && <Findings findings={event.warnings ?? []} onLine={onLine} />}
    </>
  );
}

/** What the machine could not guarantee about the times. */
function MissingGuarantees({ timings }: { timings: readonly Timing[] }): React.JSX.Element | null {
  const missing = [...new Set(timings.flatMap((timing) => timing.missing_guarantees ?? []))];
  if (missing.length === 0) return null;
  return (
    <div className="note warn">
      Not guaranteed on this machine:
      <ul>
        {missing.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

function TimingTable({ timings }: { timings: readonly Timing[] }): React.JSX.Element {
  const hasFloor = timings.some((timing) => typeof timing.pct_of_floor === "number");
  return (
    <div className="scroll" role="region" aria-label="Times" tabIndex={0}>
      <table className="times">
        <thead>
          <tr>
            <th>Case</th>
            <th className="number">Median</th>
            <th className="number wide-only">95% interval</th>
            <th className="number wide-only">Throughput</th>
            <th className="number wide-only">Bandwidth</th>
            {hasFloor && <th className="number wide-only">Of roofline</th>}
          </tr>
        </thead>
        <tbody>
          {timings.map((timing) => (
            <tr key={timing.test_id}>
              <td>
                {timing.name}
                <div className="small dim phone-only">{timingSummary(timing)}</div>
                {timingNote(timing) !== "" && <div className="small dim">{timingNote(timing)}</div>}
              </td>
              <td className="number">
                {medianText(timing.runtime_ms, timingInterval(timing))}
                {timing.noisy === true && (
                  <div>
                    <NoisyLabel />
                  </div>
                )}
              </td>
              <td className="number wide-only">{intervalText(timingInterval(timing))}</td>
              <td className="number wide-only">{gflops(timing.gflops)}</td>
              <td className="number wide-only">{gbps(timing.gbps)}</td>
              {hasFloor && <td className="number wide-only">{percent(timing.pct_of_floor)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MAX_FINDINGS = 5;

function Findings({ findings, onLine }: { findings: readonly Finding[]; onLine: (line: number) => void }): React.JSX.Element | null {
  if (findings.length === 0) return null;
  return (
    <div>
      <h3>Bug finder</h3>
      <ul className="findings">
        {findings.slice(0, MAX_FINDINGS).map((finding, index) => (
          <li key={index}>
            <span className={`badge ${finding.severity === "error" ? "bad" : "warn"}`}>{finding.kind.replaceAll("-", " ")}</span>{" "}
            {finding.line !== null && (
              <button className="button plain line" onClick={() => onLine(finding.line ?? 1)}>
                line {finding.line}
              </button>
            )}{" "}
            {inline(finding.message)} <span className="dim">{inline(finding.hint)}</span>
            {finding.block !== null && finding.thread !== null && (
              <span className="dim">
                {" "}
                Block ({finding.block.join(", ")}), thread ({finding.thread.join(", ")}).
              </span>
            )}
          </li>
        ))}
      </ul>
      {findings.length > MAX_FINDINGS && <p className="dim small">And {count(findings.length - MAX_FINDINGS)} more.</p>}
    </div>
  );
}
