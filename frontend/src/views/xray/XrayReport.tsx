/** The report of an X-ray: compile errors, findings, and each kernel. */
import { useState } from "react";
import { bytes, plural, runtime, significant } from "../../lib/format";
import type {
  AssemblyBlock,
  CompileFailureResponse,
  RooflineResponse,
  XrayFindingResponse,
  XrayKernelDetailResponse,
} from "../../lib/generated";
import { Assembly } from "./Assembly";
import { KernelDetails } from "./KernelDetails";
import { LineLink } from "./LineLink";
import type { XrayReportData } from "./report";

interface Props {
  report: XrayReportData;
  source: string;
  onLine: ((line: number) => void) | undefined;
  onLineLeaves: boolean;
  /** Whether to show source and assembly below the figures. */
  assembly?: boolean;
}

export function XrayReport({ report, source, onLine, onLineLeaves, assembly = true }: Props): React.JSX.Element {
  const [name, setName] = useState<string | null>(null);
  const [line, setLine] = useState<number | null>(null);
  const kernel = report.kernels.find(({ symbol }) => symbol === name) ?? report.kernels[0];
  const isa = assembly ? (kernel?.isa ?? null) : null;
  const show = (target: number): void => {
    setLine(target);
    if (!onLineLeaves || isa === null) onLine?.(target);
  };
  return (
    <>
      {report.failure !== null && <CompileErrors failure={report.failure} gpu={report.gpu} onLine={show} />}
      {report.notes.map((note) => (
        <p key={note} className="note small">
          {note}
        </p>
      ))}
      <Findings findings={report.findings} hasKernels={report.kernels.length > 0} onLine={show} />
      {report.roofline !== null && <RooflineNote hint={report.roofline} />}
      {report.kernels.length > 1 && (
        <label className="row">
          <span>Kernel</span>
          <select value={kernel?.symbol ?? ""} onChange={(event) => setName(event.target.value)}>
            {report.kernels.map((option) => (
              <option key={option.symbol} value={option.symbol}>
                {option.name}
              </option>
            ))}
          </select>
          <span className="dim small">{plural(report.kernels.length, "kernel")} in this file</span>
        </label>
      )}
      {kernel !== undefined && (
        <KernelSection kernel={kernel} isa={isa} arch={report.arch} source={source} line={line} onLine={show} />
      )}
    </>
  );
}

interface KernelSectionProps {
  kernel: XrayKernelDetailResponse;
  isa: readonly AssemblyBlock[] | null;
  arch: string;
  source: string;
  line: number | null;
  onLine: (line: number) => void;
}

function KernelSection({ kernel, isa, arch, source, line, onLine }: KernelSectionProps): React.JSX.Element {
  return (
    <>
      <h2>
        <code>{kernel.name}</code> <LineLink line={kernel.line} onLine={onLine} />
      </h2>
      <KernelDetails kernel={kernel} arch={arch} onLine={onLine} />
      {isa !== null && (
        <Assembly key={kernel.symbol} code={source} blocks={isa} kernel={kernel.name} line={line} />
      )}
    </>
  );
}

function CompileErrors({
  failure,
  gpu,
  onLine,
}: {
  failure: CompileFailureResponse;
  gpu: string;
  onLine: (line: number) => void;
}): React.JSX.Element {
  const errors = failure.diagnostics.filter(({ severity }) => severity === "error");
  return (
    <div className="note bad">
      <p>
        <strong>The code does not compile for {gpu === "" ? "the GPU" : gpu}.</strong>
      </p>
      {errors.length === 0 && <p className="xray-message">{failure.message}</p>}
      <ul className="plain-list">
        {errors.map(({ line, column, message }) => (
          <li key={`${line}:${column}:${message}`}>
            <LineLink line={line || null} onLine={onLine} /> {message}
          </li>
        ))}
      </ul>
      {failure.hint !== "" && <p>{failure.hint}</p>}
    </div>
  );
}

interface FindingsProps {
  findings: readonly XrayFindingResponse[];
  hasKernels: boolean;
  onLine: (line: number) => void;
}

function Findings({ findings, hasKernels, onLine }: FindingsProps): React.JSX.Element | null {
  if (findings.length === 0) {
    return hasKernels ? (
      <p className="note good small">No findings.</p>
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

function matrixPeaks({ matrix_peaks }: RooflineResponse): string {
  return Object.entries(matrix_peaks)
    .map(([type, flops]) => `${type} ${significant(flops / 1e12)}`)
    .join(", ");
}

function RooflineNote({ hint }: { hint: RooflineResponse }): React.JSX.Element {
  return (
    <p className="note info small">
      This problem is {hint.memory_bound ? "memory-bound" : "compute-bound"} on {hint.gpu}: its largest case (
      {hint.case}) moves at least {bytes(hint.bytes_moved)} for {significant(hint.flops / 1e9)} GFLOP, which is{" "}
      {significant(hint.flops_per_byte)} FLOP/byte; the ridge point is at{" "}
      {significant(hint.ridge_flops_per_byte)}. The roofline floor is {runtime(hint.floor_ms)}. Peaks of the matrix
      cores, in TFLOP/s: {matrixPeaks(hint)}.
    </p>
  );
}
