/** The X-ray report, as explained in docs/xray.md, and the request for one. */
import { post } from "../../lib/api";
import type { IsaBlock } from "./mapping";
import type { NextStep, Occupancy } from "./occupancy";

export interface Loop {
  line: number | null;
  depth: number;
  instructions: number;
  counts: Record<string, number>;
}

export interface Kernel {
  name: string;
  symbol: string;
  line: number | null;
  vgpr: number;
  agpr: number;
  vgpr_total: number;
  sgpr: number;
  lds_bytes: number;
  scratch_bytes: number;
  spills: number;
  code_bytes: number;
  launch_bound_threads: number | null;
  block: [number, number, number] | null;
  occupancy: Occupancy;
  by_block: Record<string, Occupancy>;
  next_steps: NextStep[];
  instructions: Record<string, number>;
  load_widths: Record<string, number>;
  store_widths: Record<string, number>;
  loops: Loop[];
  isa?: IsaBlock[];
}

export interface XrayFinding {
  rule: string;
  kernel: string;
  line: number | null;
  message: string;
  advice: string;
}

export interface RooflineHint {
  gpu: string;
  case: string;
  dtype: string;
  flops: number;
  bytes_moved: number;
  flops_per_byte: number;
  ridge_flops_per_byte: number;
  memory_bound: boolean;
  floor_ms: number;
}

export interface Failure {
  code: string;
  message: string;
  hint: string;
  diagnostics: { line: number; column: number; severity: string; message: string; source_line: string }[];
}

export interface Report {
  arch: string;
  gpu: string;
  compiler: string;
  seconds: number;
  /** Null if the control plane has no compiler for the GPU. */
  compiles: boolean | null;
  kernels: Kernel[];
  findings: XrayFinding[];
  roofline: RooflineHint | null;
  failure: Failure | null;
  notes: string[];
}

/** Request the X-ray of a source, with the assembly. Nothing is executed, stored or billed. */
export function requestXray(code: string, problem?: string, dtype?: string): Promise<Report> {
  return post<Report>("/xray", { solution_code: code, problem, dtype, isa: true });
}

/** Convert the XRAY event of a submission to a report; it has no assembly and no roofline. */
export function fromEvent(event: {
  arch: string;
  gpu: string;
  compiler: string;
  seconds: number;
  compiles: boolean | null;
  kernels: readonly unknown[];
  findings: readonly unknown[];
  notes: string[];
  message: string;
}): Report {
  const { arch, gpu, compiler, seconds, compiles, notes } = event;
  const failure =
    event.message === ""
      ? null
      : { code: "COMPILE_ERROR", message: event.message, hint: "", diagnostics: [] };
  return {
    ...{ arch, gpu, compiler, seconds, compiles, notes, failure },
    kernels: event.kernels as Kernel[],
    findings: event.findings as XrayFinding[],
    roofline: null,
  };
}
