/** The forms of the API and of its events, as docs/api.md has them. Nothing but types. */

export type Endpoint = "xray" | "checker" | "benchmark" | "submit";

export interface BestTime {
  gpu_type: string;
  /** Of the CPU simulator, which says nothing of the GPU. */
  simulated: boolean;
  runtime_ms: number;
}

export interface ProblemSummary {
  slug: string;
  title: string;
  difficulty: string;
  tags: string[];
  dtypes: string[];
  aliases: string[];
  declaration: string;
  /** TeX: what is computed, in one line. */
  formula: string | null;
  /** Accepted submissions, of everyone. */
  solutions: number;
  best_times: BestTime[];
  /** Whether the caller has an accepted one. */
  solved: boolean;
}

export interface ProblemDetail extends ProblemSummary {
  statement: string;
  declarations: Record<string, string>;
  starters: Record<string, string>;
  cases: Record<string, string[]>;
}

export interface Gpu {
  name: string;
  display_name: string;
  arch: string;
  memory_bytes: number;
  bandwidth_bytes_per_s: number;
  peak_flops: Record<string, number>;
  compute_units: number;
  rate_usd_per_h: number | null;
  enabled: boolean;
  default: boolean;
}

export interface Urls {
  self: string;
  events: string;
  code: string;
  cancel: string;
}

export interface SubmissionCreated {
  id: string;
  status: string;
  urls: Urls;
}

export interface Submission {
  id: string;
  owner: string;
  problem: string;
  gpu_type: string;
  dtype: string;
  language: string;
  endpoint: Endpoint;
  file_name: string;
  code_sha256: string;
  state: "ADMITTING" | "QUEUED" | "ASSIGNED" | "RUNNING" | "DONE";
  verdict: string | null;
  created_at: string;
  finished_at: string | null;
  vm_id: string | null;
  attempts: number;
  cancel_requested: boolean;
  simulated: boolean;
  cost_usd: number | null;
  avg_runtime_ms: number | null;
  avg_gflops: number | null;
  last_event_id: number;
  urls: Urls;
}

export interface SubmissionDetail extends Submission {
  result: StreamEvent | null;
}

export interface SubmissionPage {
  items: Submission[];
  next_cursor: string | null;
}

export interface Code {
  id: string;
  file_name: string;
  language: string;
  solution_code: string;
  problem_def: string | null;
}

/** What a submission was told when it came. */
export interface Quote {
  vm_state: "COLD_START" | "WARM_REUSE" | null;
  wait_s: number | null;
  cost_usd: number | null;
}

/** What a submission may expect if it came now. */
export interface QuoteResponse {
  now: string;
  problem: string;
  gpu_type: string;
  endpoint: Endpoint;
  vm_state: "COLD_START" | "WARM_REUSE" | null;
  position: number;
  wait_s: number;
  total_s: number;
  cost_usd: number;
  /** That a VM is ready if it is sent within the next minutes, 0 to 1. */
  warm_chance: number;
  simulated: boolean;
  refusal: { code: string; detail: string; hint: string } | null;
}

export interface Ready {
  status: "ready" | "not ready";
  provider: string;
  reasons: string[];
}

/** A refusal: application/problem+json. */
export interface ErrorBody {
  status: number;
  code: string;
  detail: string;
  hint: string;
  field?: string;
}

export interface CaseResult {
  test_id: number;
  name: string;
  status: "PASSED" | "FAILED";
}

export interface Timing {
  test_id: number;
  name: string;
  runtime_ms: number;
  ci: [number, number];
  gflops: number | null;
  gbps: number;
  runs: number[];
  outer_ms: number;
  pct_of_floor: number | null;
  note: string;
}

export type Place = [number, number, number];

export interface Finding {
  kind: string;
  severity: "error" | "warning";
  message: string;
  hint: string;
  line: number | null;
  other_line: number | null;
  kernel: string;
  block: Place | null;
  thread: Place | null;
  other_block: Place | null;
  other_thread: Place | null;
  case: string;
}

/** JSON has no NaN: "nan", "inf" and "-inf" are text. */
export type Num = number | string;

export interface Difference {
  index: number[];
  expected: Num;
  actual: Num;
  difference: Num;
}

/** The error over the output, drawn together to at most 32 by 32. */
export interface ErrorGrid {
  /** Of the output itself. */
  shape: number[];
  /** Of the matrix that it is seen as. */
  height: number;
  width: number;
  rows: number;
  columns: number;
  /** Row by row: the share of wrong elements in each cell, 0 to 1; null past the last element. */
  wrong: (number | null)[];
  /** Row by row: the largest finite difference of each cell. */
  largest: number[];
}

export interface DebugInfo {
  max_difference: Num;
  mean_difference: Num;
  sample_differences: Difference[];
  grid?: ErrorGrid | null;
}

export interface XrayKernel {
  name: string;
  vgpr_total: number;
  waves_per_simd: number;
  limited_by: string;
  [figure: string]: unknown;
}

interface Base {
  id: number;
  time: string;
}

export type StreamEvent = Base &
  (
    | { status: "IN_QUEUE"; submission_id: string; position: number; quote: Quote }
    | {
        status: "XRAY";
        arch: string;
        gpu: string;
        compiler: string;
        compiles: boolean | null;
        kernels: XrayKernel[];
        findings: { line: number | null; message: string; [more: string]: unknown }[];
        message: string;
        notes: string[];
        seconds: number;
      }
    | {
        status: "PROVISIONING";
        vm_state: string;
        vm_id: string;
        phase: string;
        elapsed_s: number;
        eta_s: number | null;
      }
    | {
        status: "VM_READY";
        vm_id: string;
        vm_state: "COLD_START" | "WARM_REUSE";
        gpu: string;
        simulated: boolean;
        attempt: number;
        metrics: Record<string, unknown>;
      }
    | { status: "COMPILING"; compiler: string; toolchain: string; sandbox: string }
    | { status: "CHECKING"; total_tests: number; compile_s: number }
    | { status: "TEST_RESULT"; result: CaseResult; total_tests: number }
    | CheckedEvent
    | { status: "BENCHMARKING"; total_tests: number }
    | { status: "BENCHMARK_RESULT"; result: Timing; total_tests: number; simulated: boolean }
    | BenchmarkedEvent
    | AcceptedEvent
    | FailedEvent
  );

interface Remarks {
  simulated: boolean;
  output?: string;
  warnings?: Finding[];
  bug_finder?: string;
  target?: string;
}

export interface CheckedEvent extends Remarks {
  status: "CHECKED";
  test_results: CaseResult[];
  passed_tests: number;
  total_tests: number;
}

export interface BenchmarkedEvent extends Remarks {
  status: "BENCHMARKED";
  test_results: Timing[];
  avg_runtime_ms: number;
  avg_gflops: number | null;
}

export interface AcceptedEvent extends Remarks {
  status: "ACCEPTED";
  passed_tests: number;
  total_tests: number;
  test_results: CaseResult[];
  benchmark_results: Timing[];
  avg_runtime_ms: number;
  avg_gflops: number | null;
  cost_usd: number;
  receipt: Record<string, unknown>;
}

export type FailedStatus =
  | "COMPILE_ERROR"
  | "WRONG_ANSWER"
  | "RUNTIME_ERROR"
  | "TIME_LIMIT_EXCEEDED"
  | "MEMORY_LIMIT_EXCEEDED"
  | "CANCELLED"
  | "RATE_LIMIT_EXCEEDED"
  | "BUDGET_EXCEEDED"
  | "ERROR";

export interface Fault {
  fault: string;
  kernel: string;
  line: number | null;
  block: Place | null;
  thread: Place | null;
  detail: string;
}

export interface Details {
  findings?: Finding[];
  fault?: Fault;
  wrong_elements?: number;
  elements?: number;
  unwritten_elements?: number;
  output_name?: string;
  [more: string]: unknown;
}

export interface FailedEvent {
  status: FailedStatus;
  code: string;
  message: string;
  hint: string;
  debug_info?: DebugInfo;
  case?: string;
  passed_tests?: number;
  total_tests?: number;
  simulated?: boolean;
  output?: string;
  target?: string;
  cost_usd?: number;
  details: Details;
}

export type Meter = "PROVISIONING" | "WORK" | "IDLE";

export type VmState = "PROVISIONING" | "WARM" | "BUSY" | "IDLE" | "SHUTTING_DOWN" | "TERMINATED" | "FAILED";

/** Who runs or waits; all but `since` is null where it is another user's, unless an operator asks. */
export interface Turn {
  since: string;
  submission_id: string | null;
  user: string | null;
  problem: string | null;
  endpoint: Endpoint | null;
}

export interface Vm {
  id: string;
  provider: string;
  gpu_type: string;
  state: VmState;
  simulated: boolean;
  created_at: string;
  /** From when it is billed. */
  started_at: string | null;
  ready_at: string | null;
  /** When it is released if nothing more comes. */
  deadline_at: string | null;
  ended_at: string | null;
  tasks_done: number;
  cost_usd: number;
  reserved_usd: number;
  /** Why it is kept, or why it ended. */
  reason: string;
  tasks: Turn[];
}

export interface LanePiece {
  meter: Meter;
  started_at: string;
  ended_at: string;
  /** It goes on. */
  open: boolean;
  submission_id: string | null;
}

export interface Lane {
  vm_id: string;
  gpu_type: string;
  state: VmState;
  simulated: boolean;
  pieces: LanePiece[];
}

export interface Credits {
  credits_usd: number;
  spent_usd: number;
  reserved_usd: number;
  remaining_usd: number;
  burn_usd_per_h: number;
  /** The alert comes when no more than this is left. */
  alert_at_usd: number;
  alerted: boolean;
  burn_down: { time: string; remaining_usd: number }[];
}

export interface DayCost {
  day: string;
  cost_usd: number;
  meters: { meter: Meter; cost_usd: number }[];
}

export interface Percentiles {
  count: number;
  p50_s: number | null;
  p90_s: number | null;
  p99_s: number | null;
}

/** The whole service at one moment. */
export interface Operations {
  now: string;
  since: string;
  simulated: boolean;
  everyone: boolean;
  vms: Vm[];
  queue: { length: number; items: (Turn & { position: number })[] };
  lanes: Lane[];
  money: Credits;
  costs_by_day: DayCost[];
  costs_by_user: { user: string | null; cost_usd: number }[];
  tasks: {
    completed: number;
    cold_starts: number;
    warm_reuses: number;
    cost_usd: number | null;
    cold_cost_usd: number | null;
    warm_cost_usd: number | null;
  };
  latencies_s: { all: Percentiles; cold: Percentiles; warm: Percentiles };
}

/** The best guess, and where it lies nine times of ten. */
export interface Range {
  low: number;
  mid: number;
  high: number;
}

/** What the ledger's own days say of those to come. */
export interface Forecast {
  days_seen: number;
  month_usd: Range;
  /** 3,650 stands for ever. */
  lasts_days: Range;
}

/** What this month would have come to with another policy, by simulation. */
export interface Alternative {
  policy: string;
  /** One VM that knows every arrival. */
  best: boolean;
  usd: number;
  wait_mean_s: number;
  cold_starts: number;
  /** With waiting at its value. */
  cost_usd: number;
}

/** This month, as it was and as it might have been. */
export interface WhatIf {
  since: string;
  tasks: number;
  spent_usd: number;
  simulated: boolean;
  items: Alternative[];
}

/** The same at another pace, by simulation. */
export interface PaceForecast {
  tasks_per_day: number;
  source: string;
  month_usd: Range | null;
  lasts_days: Range | null;
}
