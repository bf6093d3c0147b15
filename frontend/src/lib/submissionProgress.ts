/** Reduce a submission's events to its progress. Pure and idempotent: an event that is applied twice changes nothing. */
import type {
  AcceptedEvent,
  BenchmarkedEvent,
  CaseResult,
  CheckedEvent,
  Endpoint,
  FailedEvent,
  QueueQuote,
  SubmissionEvent,
  Timing,
  WaitingEvent,
  XrayEvent,
} from "./generated";

export type Stage = "sending" | "queue" | "provisioning" | "compile" | "check" | "benchmark" | "done";

export interface Provisioning {
  phase: string;
  /** From the last event, which was sent at `atMs` by the service's clock. */
  elapsedS: number;
  etaS: number | null;
  atMs: number;
  /** Every phase so far, with the elapsed time at which it started. */
  phases: { phase: string; atS: number }[];
}

export interface Vm {
  id: string;
  cold: boolean;
  gpu: string;
  simulated: boolean;
  attempt: number;
}

export type VerdictEvent = CheckedEvent | BenchmarkedEvent | AcceptedEvent | FailedEvent | XrayEvent;

export interface SubmissionProgress {
  endpoint: Endpoint;
  lastId: number;
  /** Times of the first and the last event, in ms by the service's clock; 0 before the first. */
  startedMs: number;
  lastMs: number;
  stage: Stage;
  /** When each stage started. */
  since: Partial<Record<Stage, number>>;
  position: number | null;
  quote: QueueQuote | null;
  xray: XrayEvent | null;
  provisioning: Provisioning | null;
  /** Why no VM is provisioned, and when the service reported it. */
  waiting: { event: WaitingEvent; atMs: number } | null;
  vm: Vm | null;
  compiler: string;
  /** Empty before the compilation. */
  toolchain: string;
  compileS: number | null;
  totalTests: number;
  tests: CaseResult[];
  totalTimings: number;
  timings: Timing[];
  verdict: VerdictEvent | null;
}

export function initialProgress(endpoint: Endpoint): SubmissionProgress {
  return {
    endpoint,
    lastId: 0,
    startedMs: 0,
    lastMs: 0,
    stage: "sending",
    since: {},
    position: null,
    quote: null,
    xray: null,
    provisioning: null,
    waiting: null,
    vm: null,
    compiler: "",
    toolchain: "",
    compileS: null,
    totalTests: 0,
    tests: [],
    totalTimings: 0,
    timings: [],
    verdict: null,
  };
}

const FAILURES = new Set<string>([
  "COMPILE_ERROR",
  "WRONG_ANSWER",
  "RUNTIME_ERROR",
  "TIME_LIMIT_EXCEEDED",
  "MEMORY_LIMIT_EXCEEDED",
  "CANCELLED",
  "RATE_LIMIT_EXCEEDED",
  "BUDGET_EXCEEDED",
  "ERROR",
]);
const SUCCESS: Record<Endpoint, string> = {
  xray: "XRAY",
  checker: "CHECKED",
  benchmark: "BENCHMARKED",
  submit: "ACCEPTED",
};

/** Return whether an event is the verdict of a submission to this endpoint. */
export function isVerdict(endpoint: Endpoint, event: SubmissionEvent): boolean {
  return event.status === SUCCESS[endpoint] || FAILURES.has(event.status);
}

export function isFailure(event: { status: string }): event is FailedEvent {
  return FAILURES.has(event.status);
}

/** Return the progress after more events; events that were already applied are ignored. */
export function applyEvents(progress: SubmissionProgress, events: readonly SubmissionEvent[]): SubmissionProgress {
  return events.reduce(applyEvent, progress);
}

function applyEvent(progress: SubmissionProgress, event: SubmissionEvent): SubmissionProgress {
  if (event.id <= progress.lastId || progress.verdict !== null) return progress;
  const atMs = Date.parse(event.time);
  const current = { ...progress, lastId: event.id, startedMs: progress.startedMs || atMs, lastMs: atMs };
  const changed = { ...current, ...changesFor(current, event, atMs) };
  if (isVerdict(progress.endpoint, event)) {
    changed.verdict = event as VerdictEvent;
    changed.stage = "done";
  }
  if (changed.stage === progress.stage && progress.since[progress.stage] !== undefined) return changed;
  return { ...changed, since: { ...changed.since, [changed.stage]: atMs } };
}

function changesFor(progress: SubmissionProgress, event: SubmissionEvent, atMs: number): Partial<SubmissionProgress> {
  switch (event.status) {
    case "IN_QUEUE":
      return { ...resetAttempt(progress), stage: "queue", position: event.position, quote: event.quote };
    case "XRAY":
      return { xray: event };
    case "PROVISIONING":
      return { stage: "provisioning", position: null, waiting: null, provisioning: nextProvisioning(progress.provisioning, event, atMs) };
    case "WAITING":
      return { stage: "queue", position: event.ahead, provisioning: null, waiting: { event, atMs } };
    case "VM_FAILED":
      return { ...resetAttempt(progress), stage: "queue", position: null, provisioning: null, vm: null };
    case "VM_READY":
      return { ...resetAttempt(progress), stage: "compile", position: null, waiting: null, vm: vmOf(event) };
    case "COMPILING":
      return { stage: "compile", compiler: event.compiler, toolchain: event.toolchain };
    case "CHECKING":
      return { stage: "check", totalTests: event.total_tests, compileS: event.compile_s, tests: [] };
    case "TEST_RESULT":
      return { totalTests: event.total_tests, tests: [...progress.tests, event.result] };
    case "BENCHMARKING":
      return { stage: "benchmark", totalTimings: event.total_tests, timings: [] };
    case "BENCHMARK_RESULT":
      return { totalTimings: event.total_tests, timings: [...progress.timings, event.result] };
    default:
      return {};
  }
}

/** Discard the results of a lost attempt; the next attempt starts from the beginning. */
function resetAttempt(progress: SubmissionProgress): Partial<SubmissionProgress> {
  if (progress.vm === null) return {};
  return { compiler: "", compileS: null, tests: [], timings: [], totalTimings: 0 };
}

type Event<S extends SubmissionEvent["status"]> = Extract<SubmissionEvent, { status: S }>;

function nextProvisioning(previous: Provisioning | null, event: Event<"PROVISIONING">, atMs: number): Provisioning {
  const phases = previous?.phases ?? [];
  const isNew = phases.at(-1)?.phase !== event.phase;
  return {
    phase: event.phase,
    elapsedS: event.elapsed_s,
    etaS: event.eta_s,
    atMs,
    phases: isNew ? [...phases, { phase: event.phase, atS: event.elapsed_s }] : phases,
  };
}

/** The GPU type of a CPU node, a VM without a GPU that judges checks. */
export const CPU_NODE = "CPU";

/** What a VM runs kernels on. */
export function gpuText({ gpu, simulated }: Pick<Vm, "gpu" | "simulated">): string {
  const name = gpu === CPU_NODE ? "CPU node" : gpu;
  return simulated ? `${name}, simulated on the CPU` : name;
}

/** Whether the dollars of a VM are simulated. The results of a CPU node are simulated, but its costs are real. */
export function hasSimulatedCosts({ gpu, simulated }: Pick<Vm, "gpu" | "simulated">): boolean {
  return simulated && gpu !== CPU_NODE;
}

function vmOf(event: Event<"VM_READY">): Vm {
  const { vm_id: id, vm_state, gpu, simulated, attempt } = event;
  return { id, cold: vm_state === "COLD_START", gpu, simulated, attempt };
}

/** The progress of a VM's provisioning at a time of the service's clock. */
export interface ProvisioningEstimate {
  elapsedS: number;
  /** The usual time; null if no VM has been provisioned before. */
  expectedS: number | null;
  /** 0 to 1; null if unknown. At most 0.97, since a full bar would say that the VM is ready. */
  share: number | null;
  /** Seconds over the expected time, or 0. */
  overdueS: number;
}

export function estimateProvisioning(provisioning: Provisioning, nowMs: number): ProvisioningEstimate {
  const elapsedS = provisioning.elapsedS + Math.max(0, nowMs - provisioning.atMs) / 1000;
  if (provisioning.etaS === null) return { elapsedS, expectedS: null, share: null, overdueS: 0 };
  const expectedS = provisioning.elapsedS + provisioning.etaS;
  const share = expectedS > 0 ? Math.min(0.97, elapsedS / expectedS) : 0.97;
  return { elapsedS, expectedS, share, overdueS: Math.max(0, elapsedS - expectedS) };
}
