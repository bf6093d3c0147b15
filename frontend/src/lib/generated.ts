/* Generated from the OpenAPI document by scripts/generate_types.py. Do not edit. */

/** The submission is correct and timed, and counts for the leaderboard. */
export interface AcceptedEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "ACCEPTED";
  passed_tests: number;
  total_tests: number;
  test_results: CaseResult[];
  benchmark_results: Timing[];
  avg_runtime_ms: number;
  avg_gflops: number | null;
  avg_ci?: [number, number] | null;
  noisy?: boolean;
  simulated: boolean;
  cost_usd?: number | null;
  receipt: Receipt;
  signed_receipt?: string;
  output?: string;
  warnings?: Finding[];
  bug_finder?: string;
  target?: string;
  fidelity?: string;
  fidelity_reason?: string;
}

/** The effect that an operator's action would have. */
export interface ActionEffectResponse {
  action: AuditAction;
  /** In one or two sentences, with the amounts. */
  text: string;
  saves_usd: number;
  costs_usd: number;
}

/** The possible actions, with what each saves or costs. */
export interface ActionsResponse {
  items: ActionEffectResponse[];
}

/** An alert that is not resolved. */
export interface ActiveAlertResponse {
  rule: string;
  /** The subject of the alert, such as a VM; empty for the whole service. */
  subject: string;
  text: string;
  since: string;
}

/** The submissions of one day (UTC). */
export interface ActivityDay {
  day: string;
  submissions: number;
  accepted: number;
}

/** The result of a test message on one channel. */
export interface AlertDeliveryResponse {
  channel: string;
  ok: boolean;
  /** Why it failed; empty if it was delivered. */
  detail: string;
}

/** One rule with its threshold. */
export interface AlertRuleResponse {
  rule: string;
  meaning: string;
  /** The setting with the threshold. */
  variable: string;
  /** `none` if the rule is off. */
  threshold: string;
}

/** The results of a test message. */
export interface AlertTestResponse {
  items: AlertDeliveryResponse[];
}

/** The rules, the channels that are configured, and the active alerts. */
export interface AlertsResponse {
  rules: AlertRuleResponse[];
  /** `webhook`, `slack`, `email`; their addresses are not shown. */
  channels: string[];
  active: ActiveAlertResponse[];
}

/** A new key with its secret, which is shown once. */
export interface ApiKeyCreatedResponse {
  id: string;
  user: string;
  role: Role;
  team: string | null;
  created_at: string;
  revoked_at: string | null;
  secret: string;
}

/** API keys, oldest first: of the caller, or of all users for operators. */
export interface ApiKeyListResponse {
  items: ApiKeyResponse[];
}

/** A new API key of the caller. */
export interface ApiKeyRequest {
  /** At most the caller's own role, which is the default. */
  role?: Role | null;
}

/** An API key without its secret. */
export interface ApiKeyResponse {
  id: string;
  user: string;
  role: Role;
  team: string | null;
  created_at: string;
  revoked_at: string | null;
}

/** The tolerance that an output exceeded. */
export interface AppliedTolerance {
  rtol: number;
  atol: number;
  why: string;
}

/** Consecutive instructions of one source line. */
export interface AssemblyBlock {
  line: number | null;
  /** How many loops enclose the instructions. */
  depth: number;
  label: string | null;
  instructions: string[];
}

/** A team with a new assignment. */
export interface AssignmentCreatedResponse {
  name: string;
  now: string;
  members: string[];
  /** The members' spending today (UTC). */
  spent_usd: number;
  /** The expected cost of their unfinished submissions. */
  expected_usd: number;
  /** The team's daily budget; null if there is none. */
  limit_usd: number | null;
  /** Whether the caller may change assignments and export results. */
  can_manage: boolean;
  assignments: AssignmentResponse[];
  /** The id of the new assignment. */
  assignment_id: string;
}

/** A new assignment. */
export interface AssignmentRequest {
  problem: string;
  /** The title of the problem if omitted. */
  title?: string;
  /** With a time zone. Submissions sent by then count. */
  deadline_at: string;
}

/** An assignment, with the results that the caller may see. */
export interface AssignmentResponse {
  id: string;
  problem: string;
  title: string;
  deadline_at: string;
  /** Whether the deadline is in the future. */
  is_open: boolean;
  created_by: string;
  /** Of every member for managers of the team; otherwise only the caller's own. */
  results: AssignmentResultResponse[];
}

/** The result of one member before the deadline. */
export interface AssignmentResultResponse {
  user: string;
  submissions: number;
  accepted: number;
  solved: boolean;
  best_submission_id: string | null;
  best_runtime_ms: number | null;
  gpu_type: string | null;
  simulated: boolean | null;
  accepted_at: string | null;
}

export type AuditAction = "vm.release" | "vm.drain" | "vm.pin" | "vm.unpin" | "intake.pause" | "intake.resume" | "limits.change" | "submission.cancel" | "provisioning.reset" | "key.create" | "key.revoke" | "user.change" | "invitation.create" | "invitation.revoke" | "team.budget" | "alert.test";

/** The result of checking the hash chain of the audit log. */
export interface AuditCheckResponse {
  intact: boolean;
  /** How many entries were found intact. */
  entries: number;
  /** The hash of the last intact entry. Note it elsewhere, to compare it later. */
  head_sha256: string;
  /** The first invalid entry; null if the chain is intact. */
  broken_at: number | null;
  /** The problem with that entry; empty if the chain is intact. */
  problem: string;
}

/** An entry of the audit log. */
export interface AuditEntryResponse {
  /** From 1, without gaps. */
  seq: number;
  time: string;
  /** The user who acted. */
  actor: string;
  /** The id of the API key; `session`, `local` or `command line` without one. */
  via: string;
  /** Stable; programs may match on it. */
  action: string;
  /** The object of the action, such as the id of a VM. */
  subject: string;
  /** The values that changed, before the action. */
  before: Record<string, unknown>;
  /** The same values after the action. */
  after: Record<string, unknown>;
  outcome: AuditOutcome;
  /** The reason that the actor gave, or why the action was refused. */
  detail: string;
  /** The hash of the previous entry; empty for the first. */
  previous_sha256: string;
  /** The hash of this entry, which covers the previous entry's hash. */
  sha256: string;
}

export type AuditOutcome = "DONE" | "REFUSED";

/** One page of the audit log, newest first. */
export interface AuditPageResponse {
  items: AuditEntryResponse[];
  /** `before` of the next page; null on the last page. */
  next_before: number | null;
}

/** One case was timed. */
export interface BenchmarkResultEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "BENCHMARK_RESULT";
  result: Timing;
  total_tests: number;
  simulated: boolean;
}

/** Every timed case is done. */
export interface BenchmarkedEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "BENCHMARKED";
  test_results: Timing[];
  avg_runtime_ms: number;
  avg_gflops: number | null;
  avg_ci?: [number, number] | null;
  noisy?: boolean;
  simulated: boolean;
  output?: string;
  warnings?: Finding[];
  bug_finder?: string;
  target?: string;
  fidelity?: string;
  fidelity_reason?: string;
  cost_usd?: number | null;
}

/** The timed cases begin. */
export interface BenchmarkingEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "BENCHMARKING";
  total_tests: number;
}

/** The best accepted time on one GPU: the one with the smallest upper end of its interval. */
export interface BestTime {
  gpu_type: string;
  /** Whether it ran on the CPU runtime, so that the time is not a GPU's. */
  simulated: boolean;
  /** Geometric mean over the cases. */
  runtime_ms: number;
  /** 95% confidence interval of `runtime_ms`, in ms; null if unknown. */
  ci: [number, number] | null;
  /** Whether the machine was too busy for a narrow interval. */
  noisy: boolean;
}

/** One ledger entry of a VM. */
export interface BilledInterval {
  meter: Meter;
  started_at: string;
  ended_at: string;
  cost_usd: number;
  /** The submission that is charged: its work, and a boot if its quote included it. Null if the VM pool is charged: idle time and prewarming. */
  submission_id: string | null;
}

/** A VM whose ledger and provider record differ by more than a cent. */
export interface BillingDifferenceResponse {
  vm_id: string;
  ledger_usd: number;
  /** According to the provider's record. */
  billed_usd: number;
}

/** The ledger compared with the provider's record of recently ended VMs. */
export interface BillingReconciliationResponse {
  checked_at: string;
  /** How many VMs were compared. */
  vms: number;
  differences: BillingDifferenceResponse[];
}

/** A buffer after the launch of a scratch kernel. */
export interface BufferValues {
  name: string;
  type: string;
  count: number;
  values: (number | string)[];
  unwritten: number;
}

/** The remaining credits at one time. */
export interface BurnDownPoint {
  time: string;
  remaining_usd: number;
}

/** A parameter of `solution` that has a value in each case, and its allowed values. */
export interface CaseParameter {
  name: string;
  /** `dimension` is the index of a dimension of `shape`. */
  kind: "size" | "number" | "shape" | "dimension";
  /** The smallest value; null for a shape or a dimension. */
  low: number | null;
  /** The largest value, or the most elements of a shape. */
  high: number | null;
  step: number;
  /** For a dimension: the name of the shape. */
  shape: string | null;
}

/** The result of one case. */
export interface CaseResult {
  test_id: number;
  name: string;
  status: "PASSED" | "FAILED";
  hidden?: boolean;
  output?: string;
  own?: boolean;
}

/** Every case passed. */
export interface CheckedEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "CHECKED";
  test_results: CaseResult[];
  passed_tests: number;
  total_tests: number;
  simulated: boolean;
  output?: string;
  warnings?: Finding[];
  bug_finder?: string;
  target?: string;
  fidelity?: string;
  fidelity_reason?: string;
  buffers?: BufferValues[];
  cost_usd?: number | null;
}

/** The source compiled; the cases begin. */
export interface CheckingEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "CHECKING";
  total_tests: number;
  compile_s: number;
}

/** The result of claiming the history of `local`. */
export interface ClaimResponse {
  /** How many submissions changed their owner. */
  claimed: number;
}

/** The reason why the source does not compile. */
export interface CompileFailureResponse {
  code: string;
  message: string;
  diagnostics: DiagnosticResponse[];
  hint: string;
}

/** The source is being compiled. */
export interface CompilingEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "COMPILING";
  compiler: string;
  toolchain: string;
  sandbox: string;
  seed_commitment?: string;
}

/** Credits, reservations and costs by VM, phase and day. */
export interface CostsResponse {
  /** Costs are simulated; no money was spent. */
  simulated: boolean;
  credits_usd: number;
  total_usd: number;
  /** The escrow: the most that the live VMs can still cost. */
  reserved_usd: number;
  remaining_usd: number;
  /** Charged to the VM pool, not to a submission: idle time and prewarming. */
  pool_usd: number;
  by_vm: VmCost[];
  by_meter: MeterCost[];
  by_day: DailyCost[];
  today: TodaysBudget;
  /** The savings from CPU nodes; null if there were none. */
  cpu_nodes: CpuNodeCosts | null;
  /** The latest reconciliation; null before the first. */
  audit: BillingReconciliationResponse | null;
  /** Based on full days in the ledger; null with fewer than three. */
  forecast: ForecastResponse | null;
}

/** The cost of CPU nodes, and the cost of the same time on VMs with a GPU. */
export interface CpuNodeCosts {
  /** How long CPU nodes were billed: booting, judging and idle. */
  seconds: number;
  /** According to the ledger. */
  cost_usd: number;
  /** The default GPU type, which the comparison uses. */
  gpu_type: string;
  /** `seconds` at today's hourly rate of a VM with that GPU type. */
  gpu_usd: number;
  /** `gpu_usd` minus `cost_usd`. */
  saved_usd: number;
}

/** The user of a new API key. */
export interface CreateKeyRequest {
  user: string;
  role?: Role;
  team?: string | null;
}

/** The credits now and over the last days. */
export interface CreditsResponse {
  credits_usd: number;
  spent_usd: number;
  /** The escrow: the most that the live VMs can still cost. */
  reserved_usd: number;
  remaining_usd: number;
  /** The hourly rate of the live VMs. */
  burn_usd_per_h: number;
  /** The alert fires when this much or less remains. */
  alert_at_usd: number;
  alerted: boolean;
  /** One point per billed hour of the last 31 days; the last point is now. */
  burn_down: BurnDownPoint[];
}

/** The cost of one day, UTC. */
export interface DailyCost {
  day: string;
  cost_usd: number;
}

/** The cost of one day (UTC), by activity. */
export interface DailyMeterCosts {
  day: string;
  cost_usd: number;
  meters: MeterCost[];
}

/** Another deadline of an assignment. */
export interface DeadlineRequest {
  /** With a time zone. Submissions sent by then count. */
  deadline_at: string;
}

/** The differences of an output from the reference. */
export interface DebugInfo {
  max_difference: number | string;
  mean_difference: number | string;
  sample_differences: ElementDifference[];
  /** The first values of every input; empty in older submissions. */
  inputs?: InputBeginning[];
  grid: ErrorGrid | null;
}

/** One compiler message; line 0 means that it has no position in the source. */
export interface DiagnosticResponse {
  line: number;
  column: number;
  /** `error` or `note`. */
  severity: string;
  message: string;
  source_line: string;
}

export type Difficulty = "easy" | "medium" | "hard";

export type Dtype = "float32" | "float16" | "int32";

/** One wrong element of an output. */
export interface ElementDifference {
  index: number[];
  expected: number | string;
  actual: number | string;
  difference: number | string;
  /** The same element of every input that has the shape of the output, by name. */
  inputs?: Record<string, number | string>;
}

export type Endpoint = "xray" | "checker" | "benchmark" | "submit";

/** The errors of an output, on a grid of at most 32 by 32 cells. */
export interface ErrorGrid {
  /** The shape of the output. */
  shape: number[];
  /** Rows of the matrix into which the output is folded. */
  height: number;
  width: number;
  rows: number;
  columns: number;
  /** The share of wrong elements in each cell, row by row; null past the last element. */
  wrong: (number | null)[];
  /** The largest finite difference in each cell, row by row. */
  largest: number[];
}

/** A median with a 90% prediction interval. */
export interface Estimate {
  low: number;
  mid: number;
  high: number;
}

/** A case that failed, in a check of all cases. */
export interface FailedCaseResponse {
  test_id: number;
  name: string;
  code: string;
  message: string;
  output_name?: string;
  /** For a wrong answer. */
  debug_info?: DebugInfo | null;
}

/** A verdict that is not a success. */
export interface FailedEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "COMPILE_ERROR" | "WRONG_ANSWER" | "RUNTIME_ERROR" | "TIME_LIMIT_EXCEEDED" | "MEMORY_LIMIT_EXCEEDED" | "CANCELLED" | "RATE_LIMIT_EXCEEDED" | "BUDGET_EXCEEDED" | "ERROR";
  /** A more specific reason than `status`; stable. */
  code: string;
  message: string;
  /** What to do next; may be empty. */
  hint: string;
  /** For a WRONG_ANSWER. */
  debug_info?: DebugInfo | null;
  /** The case that failed. */
  case?: string | null;
  passed_tests?: number | null;
  total_tests?: number | null;
  simulated?: boolean | null;
  /** The program's output. */
  output?: string | null;
  /** The report of the GPU's compiler, if it differs from the CPU's. */
  target?: string | null;
  /** On the CPU runtime: `exact` if a GPU computes the same bits, or `approximate`. */
  fidelity?: string | null;
  /** Which operations are approximate, and why. */
  fidelity_reason?: string | null;
  cost_usd?: number | null;
  details: FailureDetails;
}

/** Facts about a failure, depending on its `code`. */
export interface FailureDetails {
  /** From the bug finder. */
  findings?: Finding[];
  fault?: Fault | null;
  /** From the compiler. */
  diagnostics?: DiagnosticResponse[];
  output_name?: string;
  wrong_elements?: number;
  elements?: number;
  unwritten_elements?: number;
  tolerance?: AppliedTolerance | null;
  /** The program's output, by the name of the case. */
  output_by_case?: Record<string, string>;
  /** Of a scratch kernel: the buffers that it may write. */
  buffers?: BufferValues[];
  /** Of a check of all cases: every case that failed. */
  failed_cases?: FailedCaseResponse[];
}

export type FailureKind = "NO_CAPACITY" | "FLEET_FULL" | "NO_QUOTA" | "NO_OFFERS" | "UNREACHABLE" | "DENIED" | "NO_CREDITS" | "TOO_EXPENSIVE" | "NO_FLEET" | "NO_BACKEND" | "BAD_IMAGE" | "NO_SSH" | "WRONG_VM" | "WORKER_FAILED" | "UNHEALTHY" | "OTHER";

/** A memory fault of a kernel on the CPU runtime. */
export interface Fault {
  fault: string;
  kernel: string;
  line: number | null;
  block: [number, number, number] | null;
  thread: [number, number, number] | null;
  detail: string;
}

/** Undefined behavior that the bug finder observed. */
export interface Finding {
  kind: string;
  severity: "error" | "warning";
  message: string;
  hint: string;
  line: number | null;
  other_line?: number | null;
  kernel: string;
  block: [number, number, number] | null;
  thread: [number, number, number] | null;
  other_block?: [number, number, number] | null;
  other_thread?: [number, number, number] | null;
  case: string;
}

/** A forecast of how long the credits last, if future days resemble past days. */
export interface ForecastResponse {
  /** The number of full days on which the forecast is based; at most 56. */
  days_seen: number;
  /** Cost of the next 30 days. */
  month_usd: Estimate;
  /** How long the remaining credits last; at most 3,650. */
  lasts_days: Estimate;
}

/** A VM of the provider that does not belong to this service. It is never touched or counted. */
export interface ForeignVmResponse {
  name: string;
  /** The owner id of another Warmfront service; null if none has labeled it. */
  owner: string | null;
  /** The current or last dstack run on it. */
  used_by: string;
  fleet: string | null;
  /** The status, as the provider names it. */
  status: string;
  hostname: string | null;
  backend: string | null;
  rate_usd_per_h: number | null;
  created_at: string | null;
}

/** Every GPU type in the service's catalog. */
export interface GpuListResponse {
  items: GpuResponse[];
}

/** A GPU type. */
export interface GpuResponse {
  name: string;
  bandwidth_bytes_per_s: number;
  /** Null without an Infinity Cache, or if no figure is verified. */
  infinity_cache_bandwidth_bytes_per_s: number | null;
  /** Of all compute units together. */
  lds_bandwidth_bytes_per_s: number;
  /** FLOP/s, by dtype. */
  peak_flops: Partial<Record<Dtype, number>>;
  /** FLOP/s of the matrix cores, by element type. */
  matrix_peak_flops: Record<string, number>;
  display_name: string;
  arch: string;
  memory_bytes: number;
  compute_units: number;
  rate_usd_per_h: number | null;
  /** Whether submissions may request it. */
  enabled: boolean;
  default: boolean;
}

/** The roofs of a GPU type in a roofline chart. */
export interface GpuRoofs {
  name: string;
  bandwidth_bytes_per_s: number;
  /** Null without an Infinity Cache, or if no figure is verified. */
  infinity_cache_bandwidth_bytes_per_s: number | null;
  /** Of all compute units together. */
  lds_bandwidth_bytes_per_s: number;
  /** FLOP/s, by dtype. */
  peak_flops: Partial<Record<Dtype, number>>;
  /** FLOP/s of the matrix cores, by element type. */
  matrix_peak_flops: Record<string, number>;
}

/** The process is alive. */
export interface HealthResponse {
  status: "ok";
  /** `standby`: another service on the same database is active; this one can be read from, and takes over when the other one ends. */
  state: "active" | "standby";
  /** The release of Warmfront. */
  version: string;
}

/** The submission is stored and will get a verdict. */
export interface InQueueEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "IN_QUEUE";
  submission_id: string;
  position: number;
  quote: QueueQuote;
}

/** The first values of an input. */
export interface InputBeginning {
  name: string;
  shape: number[];
  values: (number | string)[];
}

export type IntakeMode = "open" | "queue" | "refuse";

/** How to pause the intake. */
export interface IntakeRequest {
  /** `queue`: submissions are accepted and wait. `refuse`: new submissions get 503. */
  mode: "queue" | "refuse";
  /** Shown to authors. */
  reason: string;
}

/** Whether submissions are accepted and run. */
export interface IntakeResponse {
  mode: IntakeMode;
  /** Why the intake is paused; empty if it is open. */
  reason: string;
  /** The operator who paused it. */
  by: string;
  /** Since when the mode applies; null if never paused. */
  since: string | null;
}

/** A new invitation with its link, which is shown once. */
export interface InvitationCreatedResponse {
  id: string;
  role: Role;
  team: string | null;
  manages_team: boolean;
  daily_budget_usd: number | null;
  note: string;
  created_by: string;
  created_at: string;
  expires_at: string;
  state: "open" | "used" | "revoked" | "expired";
  used_by: string | null;
  used_at: string | null;
  /** The secret is in the fragment, which browsers do not send to servers. */
  link: string;
}

/** Every invitation, newest first. */
export interface InvitationListResponse {
  items: InvitationResponse[];
}

/** The role, team and budget that an invitation grants to the person who accepts it. */
export interface InvitationPreviewResponse {
  role: Role;
  team: string | null;
  daily_budget_usd: number | null;
  invited_by: string;
  expires_at: string;
  sign_in_name: string | null;
}

/** A new invitation. */
export interface InvitationRequest {
  role?: Role;
  team?: string | null;
  /** Whether the person may set assignments for the team and see its results. */
  manages_team?: boolean;
  /** Replaces WARMFRONT_DAILY_BUDGET. */
  daily_budget_usd?: number | null;
  /** For the list of invitations. */
  note?: string;
  /** Seconds until it expires. */
  valid_for_s?: number;
}

/** An invitation without its secret. */
export interface InvitationResponse {
  id: string;
  role: Role;
  team: string | null;
  manages_team: boolean;
  daily_budget_usd: number | null;
  note: string;
  created_by: string;
  created_at: string;
  expires_at: string;
  state: "open" | "used" | "revoked" | "expired";
  used_by: string | null;
  used_at: string | null;
}

/** The secret of an invitation link. */
export interface InvitationSecretRequest {
  secret: string;
}

/** Latencies of all submissions, of cold starts and of warm reuses. */
export interface Latencies {
  all: LatencyPercentiles;
  cold: LatencyPercentiles;
  warm: LatencyPercentiles;
}

/** Seconds from submission to verdict; null if there are none. */
export interface LatencyPercentiles {
  count: number;
  p50_s: number | null;
  p90_s: number | null;
  p99_s: number | null;
}

/** An argument of a launch: `value` for a parameter by value, `count` and contents for a buffer. */
export interface LaunchArgument {
  /** For a parameter by value. */
  value?: number | null;
  /** Elements of the buffer. */
  count?: number | null;
  /** Contents of the buffer: random, index, zeros, ones, uninitialized. The default is `random` for a `const` buffer and `uninitialized` for one that the kernel may write. */
  fill?: string | null;
  /** Contents of the buffer as numbers, which are repeated. */
  values?: number[] | null;
}

/** The launch of a scratch kernel. */
export interface LaunchRequest {
  /** The name of a `__global__` function. */
  kernel: string;
  /** Blocks: one to three sizes. */
  grid: number[];
  /** Threads per block: one to three sizes. */
  block: number[];
  /** Dynamic LDS. */
  shared_bytes?: number;
  /** One for each parameter of the kernel, in order. */
  arguments?: LaunchArgument[];
}

/** A user's best accepted submission on one GPU. */
export interface LeaderboardEntry {
  /** 1 + the number of entries on the same GPU whose interval is entirely below this one's. */
  rank: number;
  /** Whether other entries on the same GPU have the same rank. */
  tied: boolean;
  user: string;
  gpu_type: string;
  dtype: Dtype;
  avg_runtime_ms: number;
  /** 95% confidence interval of `avg_runtime_ms`, in ms; null if unknown, as in results of older releases. An unknown interval is ranked as 10% to either side. */
  ci: [number, number] | null;
  /** Whether the machine was too busy for a narrow interval. */
  noisy: boolean;
  avg_gflops: number | null;
  /** Roofline floor over the time, geometric mean over the cases; null on the CPU runtime. */
  pct_of_floor: number | null;
  /** Visible to its owner and to operators. */
  submission_id: string | null;
  finished_at: string | null;
}

/** Leaderboards of one problem, by rank. Results of the CPU runtime are listed separately. */
export interface LeaderboardResponse {
  problem: string;
  items: LeaderboardEntry[];
  simulated: LeaderboardEntry[];
}

/** The effect of changing one limit. */
export interface LimitEffectResponse {
  name: string;
  text: string;
  saves_usd: number;
  costs_usd: number;
}

/** A limit that can be changed at run time. */
export interface LimitResponse {
  name: string;
  /** The setting's variable. */
  variable: string;
  /** The current value. */
  value: string;
  /** The value from the environment. */
  configured: string;
  /** Whether the value was set at run time. */
  changed: boolean;
  /** Which values are allowed. */
  allowed: string;
}

/** Limits to change. */
export interface LimitsRequest {
  /** New values by name, as text; null restores the configured value. */
  changes: Record<string, string | null>;
  /** For the audit log. */
  reason?: string;
  /** Return only the effects, and change nothing. */
  dry_run?: boolean;
}

/** The limits, and the effects of a requested change. */
export interface LimitsResponse {
  items: LimitResponse[];
  /** Empty unless a change was requested. */
  effects: LimitEffectResponse[];
}

/** A loop that remains after unrolling. */
export interface LoopResponse {
  line: number | null;
  /** 1 is the outermost. */
  depth: number;
  instructions: number;
  /** Instructions by kind. */
  counts: Record<string, number>;
}

/** The machine that ran the attempt. It is described, not identified: no host name, no address. */
export interface Machine {
  cpu: string;
  cores: number;
  memory_bytes: number;
  kernel: string;
  gpu?: string;
  gpu_arch?: string;
  gpu_memory_bytes?: number | null;
  compute_units?: number | null;
  gpu_partition?: string;
  gpu_driver?: string;
  hip_runtime?: string;
}

/** One form of matrix instruction in the hot loop. */
export interface MatrixFormResponse {
  form: string;
  instructions: number;
  /** FLOPs of one instruction, for the whole wave. */
  flops: number;
  /** Cycles for which one instruction occupies the matrix core, if published. */
  cycles: number | null;
  /** Share of the loop's FLOPs, including those of the vector ALU. */
  share: number;
}

/** The matrix instructions of the loop that has the most of them, or of the kernel if no loop has any. */
export interface MatrixUsageResponse {
  line: number | null;
  forms: MatrixFormResponse[];
  /** FLOPs of the vector ALU in the same loop, per wave. */
  vector_flops: number;
  /** Independent sums, each in its own registers. */
  accumulators: number;
  matrix_cycles: number | null;
  issue_cycles: number;
  /** The largest share of the time in which the matrix core can be busy. */
  most_utilisation: number | null;
}

export type Meter = "PROVISIONING" | "WORK" | "IDLE";

/** The cost of one activity of VMs. */
export interface MeterCost {
  meter: Meter;
  cost_usd: number;
}

/** The headline metrics, with detailed figures. */
export interface MetricsDetailResponse {
  total_cost_usd: number;
  remaining_credits_usd: number;
  credits_used_pct: number;
  tasks_completed: number;
  cold_starts: number;
  warm_reuses: number;
  active_vms: number;
  /** Costs are simulated; no money was spent. */
  simulated: boolean;
  reserved_usd: number;
  /** Live VMs, by state. */
  pool: Partial<Record<VMState, number>>;
  queue_length: number;
  verdicts: Partial<Record<Verdict, number>>;
  latencies_s: Latencies;
  costs_by_day: DailyCost[];
}

/** The seven headline metrics. */
export interface MetricsResponse {
  total_cost_usd: number;
  remaining_credits_usd: number;
  credits_used_pct: number;
  tasks_completed: number;
  cold_starts: number;
  warm_reuses: number;
  active_vms: number;
}

/** The number of waves that fit on a compute unit, and the resource that limits it. */
export interface OccupancyResponse {
  waves_per_simd: number;
  waves_per_cu: number;
  blocks_per_cu: number;
  limited_by: string;
}

/** The smallest change of one resource that allows more waves to run. */
export interface OccupancyStepResponse {
  resource: string;
  change: number;
  /** How much of the resource is used after the change. */
  reach: number;
  waves_per_simd: number;
}

/** An event of `/operations/stream`: the pool, the queue or the alert changed. */
export interface OperationsChangedEvent {
  id: number;
  time: string;
  status: "CHANGED";
  /** Live VMs, by state. */
  pool: Partial<Record<VMState, number>>;
  queue_length: number;
  /** By VM. */
  tasks_done: Record<string, number>;
  /** When each idle VM is released, by VM. */
  deadlines: Record<string, string>;
  /** Why no VM is provisioned, by GPU type, and how often that failed. */
  provisioning: Record<string, string>;
  /** The mode of the intake. */
  intake: string;
  /** VMs that operators are draining. */
  draining: string[];
  alerted: boolean;
  spent_usd: number;
}

/** One message of the stream of changes, as server-sent events frame it. */
export interface OperationsChangedMessage {
  id: string;
  event: "CHANGED";
  data: string;
}

/** A snapshot of the whole service. */
export interface OperationsResponse {
  /** The service's clock; every other time is measured by it. */
  now: string;
  /** The beginning of the timelines. */
  since: string;
  /** Costs are simulated; no money was spent. */
  simulated: boolean;
  /** Whether the caller sees other users' submissions and costs. */
  everyone: boolean;
  /** Live VMs, oldest first. */
  vms: VmResponse[];
  /** VMs that failed in the requested hours, newest first; at most 10. */
  failed_vms: VmResponse[];
  /** VMs of other services at the same provider; visible to operators only. */
  foreign_vms: ForeignVmResponse[];
  queue: QueueResponse;
  intake: IntakeResponse;
  /** GPU types for which no VM is provisioned now. */
  provisioning: ProvisioningProblemResponse[];
  /** VMs of the requested hours, oldest first; at most 50. */
  lanes: VmTimelineResponse[];
  money: CreditsResponse;
  /** The last 31 days. */
  costs_by_day: DailyMeterCosts[];
  /** The last 31 days; only the caller's, unless the caller is an operator. */
  costs_by_user: UserCost[];
  tasks: TaskSummary;
  /** From submission to verdict. */
  latencies_s: Latencies;
}

/** An author's own case: sizes, and the style of the inputs. */
export interface OwnCase {
  /** The value of every parameter of `solution` that is passed by value, by name. A number of dimensions may be omitted. */
  values: Record<string, number | number[]>;
  /** A style of the problem; its first if omitted. */
  style?: string | null;
}

/** The forecast for one pace, in tasks per day. */
export interface PaceForecast {
  tasks_per_day: number;
  /** Where the replayed arrivals come from. */
  source: string;
  /** Cost of the next 30 days. */
  month_usd: Estimate | null;
  /** How long the remaining credits last; at most 3,650. */
  lasts_days: Estimate | null;
  /** Mean time from a task's arrival to its start. */
  wait_mean_s: number;
}

/** Forecasts at several paces, from replays of the account's own arrivals. */
export interface PaceForecastListResponse {
  /** The remaining credits. */
  credits_usd: number;
  items: PaceForecast[];
}

/** The time until which to keep a VM. */
export interface PinRequest {
  /** ISO 8601 with a time zone. */
  until: string;
}

/** The cost under a keep-warm policy. */
export interface PolicyCost {
  policy: string;
  /** Whether this is the optimum, which knows every arrival: computed, not replayed. */
  best: boolean;
  usd: number;
  wait_mean_s: number;
  cold_starts: number;
  /** `usd` plus the value of the time that submissions waited. */
  cost_usd: number;
}

/** The VM pool and the queue when an attempt begins. */
export interface PoolUsage {
  active_vms: number;
  busy_vms: number;
  queued: number;
  slots?: number;
  busy_slots?: number;
}

/** A problem with everything that is needed to solve it. */
export interface ProblemDetailResponse {
  slug: string;
  title: string;
  difficulty: Difficulty;
  tags: string[];
  /** The first is the default. */
  dtypes: Dtype[];
  aliases: string[];
  declaration: string;
  /** What is computed, in one line of TeX. */
  formula: string | null;
  /** Accepted submissions of all users. */
  solutions: number;
  best_times: BestTime[];
  /** Whether the caller has an accepted submission. */
  solved: boolean;
  /** Markdown. */
  statement: string;
  declarations: Partial<Record<Dtype, string>>;
  starters: Partial<Record<Dtype, string>>;
  /** Names of the cases, by scale: `cpu` or `gpu`. */
  cases: Record<string, string[]>;
  /** The scale of the machines that check submissions: `cpu` or `gpu`. */
  scale: string;
  /** The parameters that `own_cases` must set; empty if the problem has no ranges of sizes. */
  case_parameters: CaseParameter[];
  /** The styles of inputs. Large sizes can have fewer of them. */
  styles: Partial<Record<Dtype, string[]>>;
}

/** An error, as `application/problem+json` (RFC 9457). */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  /** Stable; programs may match on it. */
  code: string;
  detail: string;
  /** What to do next; may be empty. */
  hint: string;
  /** The request field or parameter at fault. */
  field?: string | null;
  /** The role that a rejected action needs. */
  role_needed?: Role | null;
}

/** Every problem of the service. */
export interface ProblemListResponse {
  items: ProblemResponse[];
}

/** A problem, as shown in lists. */
export interface ProblemResponse {
  slug: string;
  title: string;
  difficulty: Difficulty;
  tags: string[];
  /** The first is the default. */
  dtypes: Dtype[];
  aliases: string[];
  declaration: string;
  /** What is computed, in one line of TeX. */
  formula: string | null;
  /** Accepted submissions of all users. */
  solutions: number;
  best_times: BestTime[];
  /** Whether the caller has an accepted submission. */
  solved: boolean;
}

/** The profile of a user: solved problems with ranks, and activity. */
export interface ProfileResponse {
  user: string;
  display_name: string;
  submissions: number;
  accepted: number;
  solved: SolvedProblem[];
  /** Days with submissions in the last 53 weeks. */
  activity: ActivityDay[];
  /** Submissions of `local` that the caller, an admin, can claim; 0 for others. */
  local_history: number;
}

/** A VM is being provisioned for the submission. */
export interface ProvisioningEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "PROVISIONING";
  vm_state: VMStart;
  vm_id: string;
  phase: string;
  elapsed_s: number;
  eta_s: number | null;
}

/** The reason why no VM with a GPU type is being provisioned. */
export interface ProvisioningProblemResponse {
  gpu_type: string;
  /** Whether the circuit breaker is open, so that submissions fail. Otherwise they wait. */
  open: boolean;
  kind: FailureKind;
  reason: string;
  /** What the operator can do; empty for other users. */
  hint: string;
  since: string;
  /** When a VM is requested again, if a submission waits for one. */
  retry_at: string;
  /** The number of consecutive VMs that could not be provisioned. */
  failures: number;
}

/** The GPU types for which no VM is being provisioned. */
export interface ProvisioningResponse {
  now: string;
  problems: ProvisioningProblemResponse[];
}

/** A public result, as listed. */
export interface PublicShare {
  id: string;
  kind: SharedKind;
  user: string;
  problem: string | null;
  created_at: string;
}

/** Public results, newest first. */
export interface PublicShareListResponse {
  items: PublicShare[];
}

/** A queued submission. Users see only `position` and `since` for submissions that are not theirs. */
export interface QueueEntry {
  /** Approximately how many submissions are ahead. */
  position: number;
  since: string;
  /** Visible to its owner and to operators. */
  submission_id: string | null;
  user: string | null;
  problem: string | null;
  endpoint: Endpoint | null;
}

/** The quote of a submission when it is queued. */
export interface QueueQuote {
  vm_state: VMStart;
  wait_s: number;
  cost_usd: number;
  warm_chance: number;
}

/** The length of the queue and its first entries. */
export interface QueueResponse {
  length: number;
  items: QueueEntry[];
}

/** The reason why a submission would be rejected. */
export interface QuoteRefusal {
  code: string;
  detail: string;
  hint: string;
}

/** The expected wait and cost of a submission that is sent now. Nothing is reserved. */
export interface QuoteResponse {
  /** The service's clock. */
  now: string;
  problem: string;
  gpu_type: string;
  endpoint: Endpoint;
  /** Null if no VM is needed. */
  vm_state: VMStart | null;
  /** How many submissions are ahead in the queue. */
  position: number;
  /** Seconds until it starts to run. */
  wait_s: number;
  /** Seconds until its verdict. */
  total_s: number;
  cost_usd: number;
  /** Probability that a VM is ready if the submission is sent within the next minutes. */
  warm_chance: number;
  /** Whether it would run on the CPU runtime with simulated costs. */
  simulated: boolean;
  /** Null if the submission would be accepted. */
  refusal: QuoteRefusal | null;
}

/** The readiness of the service to accept and run submissions. */
export interface ReadinessResponse {
  status: "ready" | "not ready";
  provider: string;
  /** One per component that failed its check. */
  reasons: string[];
}

/** The facts of a receipt: the source, the toolchain and the machine. */
export interface Receipt {
  warmfront: string;
  problem: string;
  dtype: string;
  source_sha256: string;
  toolchain: string;
  compiler: string;
  sandbox: string;
  device: string;
  compile_s: number;
  total_s: number;
  library_sha256?: string;
  problem_revision?: string;
  seed_commitment?: string;
  seed?: string;
  seed_nonce?: string;
  sandbox_detail?: string;
  machine?: Machine | null;
  cases?: ReceiptCase[];
}

/** The sizes of one case, and how its inputs were drawn. */
export interface ReceiptCase {
  test_id: number;
  name: string;
  values: Record<string, number | number[]>;
  style: string;
  timed: boolean;
}

export type Role = "reader" | "author" | "operator" | "admin";

/** The minimum time of the problem's largest case on the GPU. */
export interface RooflineResponse {
  gpu: string;
  case: string;
  dtype: Dtype;
  flops: number;
  bytes_moved: number;
  flops_per_byte: number;
  ridge_flops_per_byte: number;
  memory_bound: boolean;
  floor_ms: number;
  /** Dense FLOP per second of the GPU's matrix cores, by element type. */
  matrix_peaks: Record<string, number>;
}

/** Who is signed in, and how to sign in. */
export interface SessionResponse {
  /** Null if no one is signed in. */
  user: string | null;
  display_name: string;
  email: string | null;
  role: Role | null;
  team: string | null;
  manages_team: boolean;
  /** `local` is the only user of a service on loopback without keys and sign-in. */
  authentication: "local" | "key" | "session" | null;
  /** When the session ends; null without a session. */
  expires_at: string | null;
  /** Where people sign in, such as `GitHub`; null if sign-in is not set up. */
  sign_in_name: string | null;
}

/** Shared results, newest first. */
export interface ShareListResponse {
  items: ShareResponse[];
}

/** A link to a submission or an X-ray. */
export interface ShareResponse {
  /** Null for a submission that was never shared. */
  id: string | null;
  kind: SharedKind;
  visibility: Visibility;
  submission_id: string | null;
  problem: string | null;
  /** The page for others; null without an id. */
  link: string | null;
  /** A read-only view for an iframe; null without an id. */
  embed_link: string | null;
  created_at: string | null;
}

export type SharedKind = "submission" | "xray";

/** A shared submission or X-ray, as others see it: without costs and VMs. */
export interface SharedResponse {
  id: string;
  kind: SharedKind;
  visibility: Visibility;
  user: string;
  /** Whether the caller is its owner. */
  own: boolean;
  problem: string | null;
  created_at: string;
  source: string;
  file_name: string;
  /** Null for an X-ray. */
  submission: SubmissionDetailResponse | null;
  /** Results of a submission; empty for an X-ray. */
  events: SubmissionEvent[];
  /** The report of an X-ray; null for a submission. */
  xray: XrayReportResponse | null;
  /** The GPU architecture of an X-ray. */
  arch: string | null;
  /** The GPU type of a submission; null for an X-ray. */
  gpu: GpuRoofs | null;
}

/** The start of a sign-in. */
export interface SignInRequest {
  /** The path of the page to open afterwards. */
  return_to?: string;
  /** The secret of an invitation. */
  invitation?: string | null;
}

/** The address at which the browser continues the sign-in. */
export interface SignInResponse {
  url: string;
}

/** Every signing key of the service, oldest first. */
export interface SigningKeyListResponse {
  items: SigningKeyResponse[];
}

/** The public half of a key that signs, or has signed, receipts. */
export interface SigningKeyResponse {
  /** The `key_id` of the receipts that it signed; derived from the key. */
  id: string;
  algorithm: "Ed25519";
  /** The 32 bytes of the key, in base64. */
  public_key: string;
  /** The same key in PEM format, as used by OpenSSL. */
  pem: string;
  created_at: string | null;
  /** When another key replaced it; its receipts remain valid. Null while it signs. */
  retired_at: string | null;
}

/** A problem that the user has solved. */
export interface SolvedProblem {
  problem: string;
  solved_at: string | null;
  best_runtime_ms: number | null;
  gpu_type: string | null;
  simulated: boolean;
  /** On the leaderboard of this GPU; null without a time. */
  rank: number | null;
  /** How many users are on that leaderboard. */
  of: number;
}

/** The submitted source. */
export interface SourceResponse {
  id: string;
  file_name: string;
  language: string;
  solution_code: string;
  problem_def: string | null;
  /** The author's own cases. */
  own_cases: OwnCase[];
  /** Whether the check continued after a wrong answer. */
  all_cases: boolean;
  /** The launch of a scratch kernel. */
  launch: LaunchRequest | null;
}

/** A submission that is stored and will get a verdict. */
export interface SubmissionCreatedResponse {
  id: string;
  /** `IN_QUEUE`, `RUNNING`, or the verdict. */
  status: Verdict | "IN_QUEUE" | "RUNNING";
  urls: SubmissionUrls;
}

/** A submission with its verdict. */
export interface SubmissionDetailResponse {
  id: string;
  owner: string;
  problem: string;
  gpu_type: string;
  dtype: Dtype;
  language: string;
  endpoint: Endpoint;
  file_name: string;
  code_sha256: string;
  state: SubmissionState;
  verdict: Verdict | null;
  created_at: string;
  finished_at: string | null;
  /** The VM of the last attempt. */
  vm_id: string | null;
  attempts: number;
  cancel_requested: boolean;
  /** Whether it ran on the CPU runtime, so that its times are not a GPU's. */
  simulated: boolean;
  cost_usd: number | null;
  /** Geometric mean over the timed cases. */
  avg_runtime_ms: number | null;
  /** 95% confidence interval of `avg_runtime_ms`, in ms; null if unknown. */
  avg_ci: [number, number] | null;
  /** Whether the machine was too busy for a narrow interval. */
  noisy: boolean;
  avg_gflops: number | null;
  last_event_id: number;
  urls: SubmissionUrls;
  /** The terminal event; null until the submission is DONE. */
  result: SubmissionEvent | null;
}

/** One event of a submission; `status` is its kind. */
export type SubmissionEvent = InQueueEvent | ProvisioningEvent | WaitingEvent | VMFailedEvent | VMReadyEvent | XrayEvent | CompilingEvent | CheckingEvent | TestResultEvent | CheckedEvent | BenchmarkingEvent | BenchmarkResultEvent | BenchmarkedEvent | AcceptedEvent | FailedEvent;

/** One message of a submission's event stream, as server-sent events frame it. */
export interface SubmissionEventMessage {
  /** The event's id; send it as `Last-Event-ID` to resume a dropped stream. */
  id: string;
  /** The event's `status`. */
  event: string;
  data: string;
}

/** One page of submissions, newest first. */
export interface SubmissionPageResponse {
  items: SubmissionResponse[];
  /** The `cursor` parameter of the next page; null on the last. */
  next_cursor: string | null;
}

/** A submission, without its source. */
export interface SubmissionResponse {
  id: string;
  owner: string;
  problem: string;
  gpu_type: string;
  dtype: Dtype;
  language: string;
  endpoint: Endpoint;
  file_name: string;
  code_sha256: string;
  state: SubmissionState;
  verdict: Verdict | null;
  created_at: string;
  finished_at: string | null;
  /** The VM of the last attempt. */
  vm_id: string | null;
  attempts: number;
  cancel_requested: boolean;
  /** Whether it ran on the CPU runtime, so that its times are not a GPU's. */
  simulated: boolean;
  cost_usd: number | null;
  /** Geometric mean over the timed cases. */
  avg_runtime_ms: number | null;
  /** 95% confidence interval of `avg_runtime_ms`, in ms; null if unknown. */
  avg_ci: [number, number] | null;
  /** Whether the machine was too busy for a narrow interval. */
  noisy: boolean;
  avg_gflops: number | null;
  last_event_id: number;
  urls: SubmissionUrls;
}

export type SubmissionState = "ADMITTING" | "QUEUED" | "ASSIGNED" | "RUNNING" | "DONE";

/** Paths of a submission's resources. */
export interface SubmissionUrls {
  self: string;
  events: string;
  code: string;
  cancel: string;
}

/** A kernel, and what to do with it. */
export interface SubmitRequest {
  /** HIP source, at most 262,144 bytes of UTF-8. */
  solution_code: string;
  problem: string;
  /** The problem's Python source. Requires the role operator. */
  problem_def?: string | null;
  /** The service's default GPU if omitted. */
  gpu_type?: string | null;
  /** The problem's first dtype if omitted. */
  dtype?: Dtype | null;
  language?: "hip";
  endpoint?: Endpoint;
  /** The name of the source file in compiler messages. */
  file_name?: string;
  /** Up to 8 own cases, which are checked before the problem's. They require the endpoint `checker`, and never count for an accepted submission. */
  own_cases?: OwnCase[];
  /** Continue after a wrong answer, so that the results of all cases are known. Requires the endpoint `checker`. */
  all_cases?: boolean;
  /** Launch a kernel without a problem. It requires the problem `scratch` and the endpoint `checker`. */
  launch?: LaunchRequest | null;
}

/** Completed tasks and their average cost. */
export interface TaskSummary {
  completed: number;
  cold_starts: number;
  warm_reuses: number;
  /** Total cost divided by the completed tasks. */
  cost_usd: number | null;
  /** Average charge of cold starts: their work, and a boot if it was quoted. */
  cold_cost_usd: number | null;
  /** Average charge of warm reuses: their work; idle time is charged to the VM pool. */
  warm_cost_usd: number | null;
}

/** The daily budget of a team. */
export interface TeamBudgetRequest {
  /** For all members together; null restores WARMFRONT_TEAM_DAILY_BUDGET. */
  daily_budget_usd: number | null;
}

/** A team with its members and assignments. */
export interface TeamDetailResponse {
  name: string;
  now: string;
  members: string[];
  /** The members' spending today (UTC). */
  spent_usd: number;
  /** The expected cost of their unfinished submissions. */
  expected_usd: number;
  /** The team's daily budget; null if there is none. */
  limit_usd: number | null;
  /** Whether the caller may change assignments and export results. */
  can_manage: boolean;
  assignments: AssignmentResponse[];
}

/** The teams with members or a budget, by name. */
export interface TeamListResponse {
  items: TeamSpendingResponse[];
}

/** A team with its members and its spending today (UTC). */
export interface TeamSpendingResponse {
  team: string;
  members: string[];
  spent_usd: number;
  /** The expected cost of unfinished submissions. */
  expected_usd: number;
  /** The daily budget that applies; null if there is none. */
  limit_usd: number | null;
  /** The team's own daily budget; null if WARMFRONT_TEAM_DAILY_BUDGET applies. */
  budget_usd: number | null;
}

/** One case passed or failed. */
export interface TestResultEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "TEST_RESULT";
  result: CaseResult;
  total_tests: number;
}

/** The activity of a VM during an interval. */
export interface TimelineSegmentResponse {
  meter: Meter;
  started_at: string;
  ended_at: string;
  /** Whether the interval has not ended. */
  open: boolean;
  /** Visible to its owner and to operators. */
  submission_id: string | null;
}

/** The timing of one case, measured by the judge. Nothing that the guest reports decides it. */
export interface Timing {
  test_id: number;
  name: string;
  runtime_ms: number;
  ci: [number, number];
  gflops: number | null;
  gbps: number;
  runs: number[];
  outer_ms: number;
  pct_of_floor?: number | null;
  note?: string;
  windows?: Window[];
  overhead_ms?: number;
  reference_ms?: number | null;
  noisy?: boolean;
  discarded_windows?: number;
  self_reported_ms?: number | null;
  missing_guarantees?: string[];
}

/** The caller's spending today (UTC), and its limit. */
export interface TodaysBudget {
  user: string;
  spent_usd: number;
  /** The expected cost of the caller's unfinished submissions; it counts against the cap. */
  expected_usd: number;
  /** Null if the user has no daily cap. */
  limit_usd: number | null;
}

/** The cost of one user. */
export interface UserCost {
  /** Null for the VM pool, which is charged for idle time and prewarming. */
  user: string | null;
  cost_usd: number;
}

/** Every user, by name. */
export interface UserListResponse {
  items: UserResponse[];
}

/** A user's role, team, budget and access, set by an admin; all fields are replaced. */
export interface UserRequest {
  role: Role;
  team?: string | null;
  manages_team?: boolean;
  daily_budget_usd?: number | null;
  disabled?: boolean;
}

/** A user who has signed in. */
export interface UserResponse {
  name: string;
  display_name: string;
  email: string | null;
  role: Role;
  team: string | null;
  manages_team: boolean;
  daily_budget_usd: number | null;
  created_at: string;
  last_sign_in_at: string;
  disabled: boolean;
}

/** A VM that was provisioned for the submission, or ran it, cannot be used; it waits for another. */
export interface VMFailedEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "VM_FAILED";
  vm_id: string;
  reason: string;
}

/** An attempt begins on a VM. */
export interface VMReadyEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "VM_READY";
  vm_id: string;
  vm_state: VMStart;
  gpu: string;
  simulated: boolean;
  attempt: number;
  metrics: VMReadyMetrics;
  slot?: number;
  slots?: number;
}

/** Figures of the VM and of the pool when an attempt begins. */
export interface VMReadyMetrics {
  vm: VMUsage;
  pool: PoolUsage;
}

export type VMStart = "COLD_START" | "WARM_REUSE";

export type VMState = "PROVISIONING" | "WARM" | "BUSY" | "IDLE" | "SHUTTING_DOWN" | "TERMINATED" | "FAILED";

/** The usage of a VM before an attempt begins. */
export interface VMUsage {
  tasks_done: number;
  age_s: number;
}

export type Verdict = "XRAY" | "CHECKED" | "BENCHMARKED" | "ACCEPTED" | "COMPILE_ERROR" | "WRONG_ANSWER" | "RUNTIME_ERROR" | "TIME_LIMIT_EXCEEDED" | "MEMORY_LIMIT_EXCEEDED" | "CANCELLED" | "RATE_LIMIT_EXCEEDED" | "BUDGET_EXCEEDED" | "ERROR";

export type Visibility = "private" | "unlisted" | "public";

/** Who may open a submission or an X-ray: `private`, `unlisted` (everyone with the link) or `public`. */
export interface VisibilityRequest {
  visibility: Visibility;
}

/** The possible actions on a VM, and what each would save or cost. */
export interface VmActionsResponse {
  vm_id: string;
  items: ActionEffectResponse[];
}

/** The cost of one VM. */
export interface VmCost {
  vm_id: string;
  state: VMState;
  cost_usd: number;
  meters: MeterCost[];
}

/** One VM with its ledger entries. */
export interface VmDetailResponse {
  id: string;
  provider: string;
  gpu_type: string;
  /** How many GPUs were requested. */
  gpu_count: number;
  /** How many submissions it judges at once, each on its own GPU. */
  slots: number;
  /** How many slots are judging a submission. */
  slots_used: number;
  state: VMState;
  /** Whether it has no GPU, and its costs are simulated. */
  simulated: boolean;
  created_at: string;
  /** When billing began. */
  started_at: string | null;
  ready_at: string | null;
  /** When it is released if it stays idle. */
  deadline_at: string | null;
  ended_at: string | null;
  /** Of an ended VM: true if the cloud's own list confirms its end, or if it was on a host of an SSH fleet, which keeps running; false if only dstack reports it. */
  end_confirmed: boolean | null;
  /** The cloud's own id of the machine, or the address of a host of an SSH fleet. */
  machine_id: string | null;
  tasks_done: number;
  /** Whether an operator is draining it: it finishes its submissions and ends. */
  draining: boolean;
  /** Until when an operator keeps it; null if it is not pinned. */
  pinned_until: string | null;
  /** Its cost per hour. */
  rate_usd_per_h: number;
  /** Until now, including the interval that is still open. */
  cost_usd: number;
  /** Its share of the escrow. */
  reserved_usd: number;
  /** Why it is kept, or why it ended. */
  reason: string;
  /** The submissions that run on it. */
  tasks: VmTask[];
  /** Its GPUs, as the devices report them; empty until its listener has responded. */
  devices: VmDevice[];
  /** Checked before it was ready and after every crash; null without a GPU. */
  gpu_health: VmHealth | null;
  /** Closed intervals; an open one is added when it ends. */
  intervals: BilledInterval[];
}

/** A GPU of a VM, or a partition of one, as the device reports it. */
export interface VmDevice {
  arch: string;
  name: string;
  /** 0 if unknown. */
  compute_units: number;
  /** 0 if unknown. */
  memory_bytes: number;
  partition: string;
  driver_version: string;
  hip_runtime_version: string;
}

/** The latest health report of a VM's GPU. */
export interface VmHealth {
  ok: boolean;
  summary: string;
  checks: VmHealthCheck[];
}

/** The result of one check of a VM's GPU. */
export interface VmHealthCheck {
  name: string;
  ok: boolean;
  /** The result in words. */
  detail: string;
  /** What to do if the check failed. */
  remedy: string;
  /** Whether a VM that fails the check is released; otherwise the check is advisory. */
  required: boolean;
}

/** The most recent VMs, newest first. */
export interface VmListResponse {
  /** The service's clock. */
  now: string;
  items: VmResponse[];
  /** VMs of other services at the same provider; visible to operators only. */
  foreign: ForeignVmResponse[];
}

/** One VM. */
export interface VmResponse {
  id: string;
  provider: string;
  gpu_type: string;
  /** How many GPUs were requested. */
  gpu_count: number;
  /** How many submissions it judges at once, each on its own GPU. */
  slots: number;
  /** How many slots are judging a submission. */
  slots_used: number;
  state: VMState;
  /** Whether it has no GPU, and its costs are simulated. */
  simulated: boolean;
  created_at: string;
  /** When billing began. */
  started_at: string | null;
  ready_at: string | null;
  /** When it is released if it stays idle. */
  deadline_at: string | null;
  ended_at: string | null;
  /** Of an ended VM: true if the cloud's own list confirms its end, or if it was on a host of an SSH fleet, which keeps running; false if only dstack reports it. */
  end_confirmed: boolean | null;
  /** The cloud's own id of the machine, or the address of a host of an SSH fleet. */
  machine_id: string | null;
  tasks_done: number;
  /** Whether an operator is draining it: it finishes its submissions and ends. */
  draining: boolean;
  /** Until when an operator keeps it; null if it is not pinned. */
  pinned_until: string | null;
  /** Its cost per hour. */
  rate_usd_per_h: number;
  /** Until now, including the interval that is still open. */
  cost_usd: number;
  /** Its share of the escrow. */
  reserved_usd: number;
  /** Why it is kept, or why it ended. */
  reason: string;
  /** The submissions that run on it. */
  tasks: VmTask[];
  /** Its GPUs, as the devices report them; empty until its listener has responded. */
  devices: VmDevice[];
  /** Checked before it was ready and after every crash; null without a GPU. */
  gpu_health: VmHealth | null;
}

/** A submission that runs on a VM. Users see only `since` for submissions that are not theirs. */
export interface VmTask {
  since: string;
  /** The number of its slot on the VM, from 0. */
  slot: number;
  /** Visible to its owner and to operators. */
  submission_id: string | null;
  user: string | null;
  problem: string | null;
  endpoint: Endpoint | null;
}

/** One VM over the requested hours. */
export interface VmTimelineResponse {
  vm_id: string;
  gpu_type: string;
  state: VMState;
  simulated: boolean;
  pieces: TimelineSegmentResponse[];
}

/** No VM is available for the submission now; it keeps its place in the queue. */
export interface WaitingEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "WAITING";
  kind: string;
  reason: string;
  waited_s: number;
  retry_in_s: number;
  ahead: number;
  eta_s: number | null;
  gives_up_in_s: number;
}

/** The cost of this month's arrivals under other policies. */
export interface WhatIfResponse {
  since: string;
  /** Submissions that got a VM: the arrivals that are replayed. */
  tasks: number;
  /** How many of them were judged; others were cancelled, failed or still run. */
  completed: number;
  /** The value of an hour of waiting. */
  wait_value_usd_per_h: number;
  /** Why the adaptive policy costs more than another one; empty if it does not. */
  adaptive: string;
  /** The actual cost, from the ledger. */
  spent_usd: number;
  /** Costs are simulated; no money was spent. */
  simulated: boolean;
  items: PolicyCost[];
}

/** One measurement: `calls` calls of `solution` between two points at which the guest was stopped. */
export interface Window {
  calls: number;
  time_ms: number;
  wall_ms: number;
  cpu_ms?: number | null;
  waited_ms?: number | null;
  load?: number | null;
  reference_ms?: number | null;
  empty_ms?: number | null;
  discarded?: boolean;
}

/** The X-ray: what the compiler for the GPU reports about the source, without running it. */
export interface XrayEvent {
  /** Counts from 1 without gaps; send it as `Last-Event-ID` to resume. */
  id: number;
  time: string;
  /** The version of the wire schema. */
  schema: number;
  status: "XRAY";
  arch: string;
  gpu: string;
  compiler: string;
  compiles: boolean | null;
  kernels: XrayKernelResponse[];
  findings: XrayFindingResponse[];
  message?: string;
  notes?: string[];
  seconds?: number;
  cost_usd?: number | null;
}

/** A performance problem or an error that the X-ray found. */
export interface XrayFindingResponse {
  rule: string;
  kernel: string;
  line: number | null;
  message: string;
  advice: string;
}

/** The figures of one kernel, with its assembly if requested. */
export interface XrayKernelDetailResponse {
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
  vgpr_spills: number;
  sgpr_spills: number;
  code_bytes: number;
  launch_bound_threads: number | null;
  block: [number, number, number] | null;
  waves_per_simd: number;
  limited_by: string;
  occupancy: OccupancyResponse;
  best_occupancy: OccupancyResponse;
  /** By threads per block. */
  by_block: Record<string, OccupancyResponse>;
  next_steps: OccupancyStepResponse[];
  /** Instructions by kind. */
  instructions: Record<string, number>;
  /** Global loads, by bytes per lane. */
  load_widths: Record<string, number>;
  /** Global stores, by bytes per lane. */
  store_widths: Record<string, number>;
  loops: LoopResponse[];
  /** Null for a kernel without matrix instructions. */
  matrix?: MatrixUsageResponse | null;
  /** Only with `isa: true`. */
  isa?: AssemblyBlock[] | null;
}

/** The figures of one kernel. */
export interface XrayKernelResponse {
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
  vgpr_spills: number;
  sgpr_spills: number;
  code_bytes: number;
  launch_bound_threads: number | null;
  block: [number, number, number] | null;
  waves_per_simd: number;
  limited_by: string;
  occupancy: OccupancyResponse;
  best_occupancy: OccupancyResponse;
  /** By threads per block. */
  by_block: Record<string, OccupancyResponse>;
  next_steps: OccupancyStepResponse[];
  /** Instructions by kind. */
  instructions: Record<string, number>;
  /** Global loads, by bytes per lane. */
  load_widths: Record<string, number>;
  /** Global stores, by bytes per lane. */
  store_widths: Record<string, number>;
  loops: LoopResponse[];
  /** Null for a kernel without matrix instructions. */
  matrix: MatrixUsageResponse | null;
}

/** The report of the GPU's compiler about a source. */
export interface XrayReportResponse {
  arch: string;
  gpu: string;
  compiler: string;
  seconds: number;
  compiles: boolean;
  kernels: XrayKernelDetailResponse[];
  findings: XrayFindingResponse[];
  roofline: RooflineResponse | null;
  failure: CompileFailureResponse | null;
  /** Limits of the figures' accuracy, or why there are no figures. */
  notes: string[];
}

/** A kernel to compile for a GPU. It is neither run nor stored. */
export interface XrayRequest {
  solution_code: string;
  problem?: string | null;
  dtype?: Dtype | null;
  arch?: string;
  /** Add each kernel's assembly, by source line. */
  isa?: boolean;
}

/** A kernel whose X-ray is made, stored and shared. */
export interface XrayShareRequest {
  solution_code: string;
  problem?: string | null;
  dtype?: Dtype | null;
  arch?: string;
  /** Add each kernel's assembly, by source line. */
  isa?: boolean;
  visibility?: Visibility;
}
