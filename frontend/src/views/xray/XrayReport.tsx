/** What an X-ray says: whether it compiles, findings, and each kernel in figures. */
import { useState } from "react";
import { plural, significant, runtime, bytes } from "../../lib/format";
import { Assembly } from "./Assembly";
import { KernelFigures } from "./KernelFigures";
import { LineLink } from "./LineLink";
import type { Failure, Kernel, Report, RooflineHint, XrayFinding } from "./report";

interface Props {
  report: Report;
  source: string;
  onLine: ((line: number) => void) | undefined;
  leaves: boolean;
}

export function XrayReport({ report, source, onLine, leaves }: Props): React.JSX.Element {
  const [name, setName] = useState<string | null>(null);
  const [line, setLine] = useState<number | null>(null);
  const kernel = report.kernels.find((each) => each.symbol === name) ?? report.kernels[0];
  const show = (to: number): void => {
    setLine(to);
    if (!leaves || kernel?.isa === undefined) onLine?.(to);
  };
  return (
    <>
      {report.failure !== null && <Refusal failure={report.failure} gpu={report.gpu} onLine={show} />}
      {report.notes.map((note) => (
        <p key={note} className="note small">
          {note}
        </p>
      ))}
      <Findings findings={report.findings} hasKernels={report.kernels.length > 0} onLine={show} />
      {report.roofline !== null && <Hint hint={report.roofline} />}
      {report.kernels.length > 1 && (
        <label className="row">
          <span>Kernel</span>
          <select value={kernel?.symbol ?? ""} onChange={(event) => setName(event.target.value)}>
            {report.kernels.map((each) => (
              <option key={each.symbol} value={each.symbol}>
                {each.name}
              </option>
            ))}
          </select>
          <span className="dim small">{plural(report.kernels.length, "kernel")} in this file</span>
        </label>
      )}
      {kernel !== undefined && (
        <OneKernel kernel={kernel} arch={report.arch} source={source} line={line} onLine={show} />
      )}
    </>
  );
}

interface OneProps {
  kernel: Kernel;
  arch: string;
  source: string;
  line: number | null;
  onLine: (line: number) => void;
}

function OneKernel({ kernel, arch, source, line, onLine }: OneProps): React.JSX.Element {
  return (
    <>
      <h2>
        <code>{kernel.name}</code> <LineLink line={kernel.line} onLine={onLine} />
      </h2>
      <KernelFigures kernel={kernel} arch={arch} onLine={onLine} />
      {kernel.isa !== undefined && (
        <Assembly key={kernel.symbol} code={source} pieces={kernel.isa} kernel={kernel.name} line={line} />
      )}
    </>
  );
}

function Refusal({
  failure,
  gpu,
  onLine,
}: {
  failure: Failure;
  gpu: string;
  onLine: (line: number) => void;
}): React.JSX.Element {
  const errors = failure.diagnostics.filter((each) => each.severity === "error");
  return (
    <div className="note bad">
      <p>
        <strong>It does not compile for {gpu === "" ? "the GPU" : gpu}.</strong>
      </p>
      {errors.length === 0 && <p className="xray-message">{failure.message}</p>}
      <ul className="plain-list">
        {errors.map((each) => (
          <li key={`${each.line}:${each.column}:${each.message}`}>
            <LineLink line={each.line || null} onLine={onLine} /> {each.message}
          </li>
        ))}
      </ul>
      {failure.hint !== "" && <p>{failure.hint}</p>}
    </div>
  );
}

interface FindingsProps {
  findings: readonly XrayFinding[];
  hasKernels: boolean;
  onLine: (line: number) => void;
}

function Findings({ findings, hasKernels, onLine }: FindingsProps): React.JSX.Element | null {
  if (findings.length === 0) {
    return hasKernels ? (
      <p className="note good small">No finding: nothing stands out that is worth a change.</p>
    ) : null;
  }
  return (
    <section aria-label="Findings" className="stack">
      {findings.map((finding) => (
        <div
          key={`${finding.rule}:${finding.kernel}:${finding.line ?? 0}:${finding.message}`}
          className="note warn"
        >
          <p>
            <strong>{finding.rule.replaceAll("-", " ")}</strong>{" "}
            <LineLink line={finding.line} onLine={onLine} /> {finding.message}
          </p>
          {finding.advice !== "" && <p>{finding.advice}</p>}
        </div>
      ))}
    </section>
  );
}

function Hint({ hint }: { hint: RooflineHint }): React.JSX.Element {
  return (
    <p className="note info small">
      {hint.memory_bound ? "Memory is the limit" : "Arithmetic is the limit"} of this problem on {hint.gpu}:
      its largest case ({hint.case}) moves at least {bytes(hint.bytes_moved)} for{" "}
      {significant(hint.flops / 1e9)} GFLOP, which is {significant(hint.flops_per_byte)} FLOP a byte; the
      ridge is at {significant(hint.ridge_flops_per_byte)}. No kernel beats {runtime(hint.floor_ms)}.
    </p>
  );
}
