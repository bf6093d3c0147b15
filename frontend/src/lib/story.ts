/** What became of a submission so far, told from its events. Pure: the same events are the same story, however often. */
import type {
  AcceptedEvent,
  BenchmarkedEvent,
  CaseResult,
  CheckedEvent,
  Endpoint,
  FailedEvent,
  Quote,
  StreamEvent,
  Timing,
} from "./types";

export type Stage = "sending" | "queue" | "boot" | "compile" | "check" | "benchmark" | "done";

export interface Boot {
  phase: string;
  /** As the last event told, and when that was by the service's clock. */
  elapsedS: number;
  etaS: number | null;
  atMs: number;
  /** Every phase seen, with the elapsed time at which it began. */
  phases: { phase: string; atS: number }[];
}

export interface Vm {
  id: string;
  cold: boolean;
  gpu: string;
  simulated: boolean;
  attempt: number;
}

export type XrayEvent = Extract<StreamEvent, { status: "XRAY" }>;
export type Ending = (CheckedEvent | BenchmarkedEvent | AcceptedEvent | FailedEvent | XrayEvent) & {
  id: number;
  time: string;
};

export interface Story {
  endpoint: Endpoint;
  lastId: number;
  /** Of the first and the last event, in ms by the service's clock; 0 before any. */
  beganMs: number;
  lastMs: number;
  stage: Stage;
  /** When each stage began. */
  since: Partial<Record<Stage, number>>;
  position: number | null;
  quote: Quote | null;
  xray: XrayEvent | null;
  boot: Boot | null;
  vm: Vm | null;
  compiler: string;
  onCpu: boolean;
  compileS: number | null;
  totalTests: number;
  tests: CaseResult[];
  totalTimings: number;
  timings: Timing[];
  ending: Ending | null;
}

export function begin(endpoint: Endpoint): Story {
  return {
    endpoint,
    lastId: 0,
    beganMs: 0,
    lastMs: 0,
    stage: "sending",
    since: {},
    position: null,
    quote: null,
    xray: null,
    boot: null,
    vm: null,
    compiler: "",
    onCpu: false,
    compileS: null,
    totalTests: 0,
    tests: [],
    totalTimings: 0,
    timings: [],
    ending: null,
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

/** Whether an event is the verdict of what was asked for. */
export function isLast(endpoint: Endpoint, event: StreamEvent): boolean {
  return event.status === SUCCESS[endpoint] || FAILURES.has(event.status);
}

export function isFailure(event: { status: string }): event is FailedEvent {
  return FAILURES.has(event.status);
}

/** The story with some more events. Those that it knows change nothing. */
export function tell(story: Story, events: readonly StreamEvent[]): Story {
  return events.reduce(next, story);
}

function next(story: Story, event: StreamEvent): Story {
  if (event.id <= story.lastId || story.ending !== null) return story;
  const atMs = Date.parse(event.time);
  const told = { ...story, lastId: event.id, beganMs: story.beganMs || atMs, lastMs: atMs };
  const changed = { ...told, ...change(told, event, atMs) };
  if (isLast(story.endpoint, event)) {
    changed.ending = event as Ending;
    changed.stage = "done";
  }
  if (changed.stage === story.stage && story.since[story.stage] !== undefined) return changed;
  return { ...changed, since: { ...changed.since, [changed.stage]: atMs } };
}

function change(story: Story, event: StreamEvent, atMs: number): Partial<Story> {
  switch (event.status) {
    case "IN_QUEUE":
      return { ...again(story), stage: "queue", position: event.position, quote: event.quote };
    case "XRAY":
      return { xray: event };
    case "PROVISIONING":
      return { stage: "boot", position: null, boot: booted(story.boot, event, atMs) };
    case "VM_READY":
      return { ...again(story), stage: "compile", position: null, vm: vmOf(event) };
    case "COMPILING":
      return { stage: "compile", compiler: event.compiler, onCpu: event.toolchain === "cpu" };
    case "CHECKING":
      return { stage: "check", totalTests: event.total_tests, compileS: event.compile_s, tests: [] };
    case "TEST_RESULT":
      return { totalTests: event.total_tests, tests: [...story.tests, event.result] };
    case "BENCHMARKING":
      return { stage: "benchmark", totalTimings: event.total_tests, timings: [] };
    case "BENCHMARK_RESULT":
      return { totalTimings: event.total_tests, timings: [...story.timings, event.result] };
    default:
      return {};
  }
}

/** A VM was lost and another begins anew: what the first did does not count. */
function again(story: Story): Partial<Story> {
  if (story.vm === null) return {};
  return { compiler: "", compileS: null, tests: [], timings: [], totalTimings: 0 };
}

type Event<S extends StreamEvent["status"]> = Extract<StreamEvent, { status: S }>;

function booted(before: Boot | null, event: Event<"PROVISIONING">, atMs: number): Boot {
  const known = before?.phases ?? [];
  const isNew = known.at(-1)?.phase !== event.phase;
  return {
    phase: event.phase,
    elapsedS: event.elapsed_s,
    etaS: event.eta_s,
    atMs,
    phases: isNew ? [...known, { phase: event.phase, atS: event.elapsed_s }] : known,
  };
}

function vmOf(event: Event<"VM_READY">): Vm {
  const { vm_id: id, vm_state, gpu, simulated, attempt } = event;
  return { id, cold: vm_state === "COLD_START", gpu, simulated, attempt };
}

/** How far a boot is at a moment of the service's clock. A bar that is full while it still boots would lie. */
export interface BootProgress {
  elapsedS: number;
  /** What it takes as a rule; null where nothing is known yet. */
  expectedS: number | null;
  /** 0 to 1; null where nothing is known. At most 0.97 until the VM is there. */
  share: number | null;
  /** Seconds over the expected time; 0 while it is within. */
  overdueS: number;
}

export function bootProgress(boot: Boot, nowMs: number): BootProgress {
  const elapsedS = boot.elapsedS + Math.max(0, nowMs - boot.atMs) / 1000;
  if (boot.etaS === null) return { elapsedS, expectedS: null, share: null, overdueS: 0 };
  const expectedS = boot.elapsedS + boot.etaS;
  const share = expectedS > 0 ? Math.min(0.97, elapsedS / expectedS) : 0.97;
  return { elapsedS, expectedS, share, overdueS: Math.max(0, elapsedS - expectedS) };
}
