import { describe, expect, it } from "vitest";
import { applyEvents, estimateProvisioning, gpuText, hasSimulatedCosts, initialProgress, isVerdict } from "./submissionProgress";
import type { SubmissionEvent } from "./generated";

const AT = Date.parse("2026-01-31T12:00:00.000Z");

/** Events with consecutive ids, one second apart. */
function events(...bodies: object[]): SubmissionEvent[] {
  return bodies.map(
    (body, at) => ({ id: at + 1, time: new Date(AT + 1000 * at).toISOString(), ...body }) as unknown as SubmissionEvent,
  );
}

const QUEUED = { status: "IN_QUEUE", submission_id: "sub_1", position: 2, quote: { vm_state: "COLD_START" } };
const READY = { status: "VM_READY", vm_id: "vm_1", vm_state: "COLD_START", gpu: "MI300X", simulated: true, attempt: 1 };
const CASE = { test_id: 1, name: "n = 1", status: "PASSED" };
const TIMING = { test_id: 1, name: "n = 1", runtime_ms: 2, ci: [1.9, 2.1], runs: [2, 2.1, 1.9] };
const provisioning = (elapsed_s: number, phase: string): object => ({
  status: "PROVISIONING",
  vm_state: "COLD_START",
  vm_id: "vm_1",
  phase,
  elapsed_s,
  eta_s: 100 - elapsed_s,
});

describe("applyEvents", () => {
  it("passes through every stage in the order of the events", () => {
    const all = events(
      QUEUED,
      provisioning(0, "requested"),
      READY,
      { status: "COMPILING", compiler: "g++", toolchain: "cpu", sandbox: "bubblewrap" },
      { status: "CHECKING", total_tests: 1, compile_s: 0.2 },
      { status: "TEST_RESULT", result: CASE, total_tests: 1 },
      { status: "CHECKED", test_results: [CASE], passed_tests: 1, total_tests: 1 },
      { status: "BENCHMARKING", total_tests: 1 },
      { status: "BENCHMARK_RESULT", result: TIMING, total_tests: 1 },
      { status: "BENCHMARKED", test_results: [TIMING] },
      { status: "ACCEPTED", avg_runtime_ms: 2 },
    );
    const stages = all.map((_, at) => applyEvents(initialProgress("submit"), all.slice(0, at + 1)).stage);
    expect(stages.filter((stage, at) => stage !== stages[at - 1])).toEqual([
      "queue",
      "provisioning",
      "compile",
      "check",
      "benchmark",
      "done",
    ]);
    const progress = applyEvents(initialProgress("submit"), all);
    expect(progress.verdict?.status).toBe("ACCEPTED");
    expect(progress.since.check).toBe(AT + 4000);
  });

  it("gives the same result for repeated and split batches", () => {
    const all = events(QUEUED, READY, { status: "CHECKING", total_tests: 1, compile_s: 1 }, { status: "TEST_RESULT", result: CASE, total_tests: 1 });
    const once = applyEvents(initialProgress("submit"), all);
    const inBatches = all.reduce((progress, event) => applyEvents(applyEvents(progress, [event]), all.slice(0, 2)), initialProgress("submit"));
    expect(inBatches).toEqual(once);
  });

  it("treats CHECKED as the verdict of a check, but not of a submit", () => {
    const [checked] = events({ status: "CHECKED" });
    if (checked === undefined) throw new Error("no event");
    expect(isVerdict("checker", checked)).toBe(true);
    expect(isVerdict("submit", checked)).toBe(false);
  });

  it("discards the results of a lost attempt when the next one starts", () => {
    const progress = applyEvents(
      initialProgress("submit"),
      events(QUEUED, READY, { status: "TEST_RESULT", result: CASE, total_tests: 1 }, { ...READY, vm_id: "vm_2", attempt: 2 }),
    );
    expect(progress.tests).toEqual([]);
    expect(progress.vm?.attempt).toBe(2);
  });
});

describe("estimateProvisioning", () => {
  const { provisioning: current } = applyEvents(initialProgress("submit"), events(QUEUED, provisioning(0, "requested"), provisioning(20, "booting"), provisioning(30, "booting")));

  it("advances between events and keeps the phases", () => {
    if (current === null) throw new Error("nothing is being provisioned");
    const estimate = estimateProvisioning(current, current.atMs + 20_000);
    expect(estimate).toEqual({ elapsedS: 50, expectedS: 100, share: 0.5, overdueS: 0 });
    expect(current.phases.map(({ phase }) => phase)).toEqual(["requested", "booting"]);
  });

  it("reports how long it is overdue, and never reaches 1", () => {
    if (current === null) throw new Error("nothing is being provisioned");
    const estimate = estimateProvisioning(current, current.atMs + 130_000);
    expect(estimate.overdueS).toBe(60);
    expect(estimate.share).toBe(0.97);
  });

  it("does not go back if the browser's clock is behind the service's", () => {
    if (current === null) throw new Error("nothing is being provisioned");
    expect(estimateProvisioning(current, current.atMs - 5000).elapsedS).toBe(30);
  });
});

describe("the VM", () => {
  it("has simulated results and real costs if it is a CPU node", () => {
    const node = { gpu: "CPU", simulated: true };
    expect([gpuText(node), hasSimulatedCosts(node)]).toEqual(["CPU node, simulated on the CPU", false]);
    const local = { gpu: "MI300X", simulated: true };
    expect([gpuText(local), hasSimulatedCosts(local)]).toEqual(["MI300X, simulated on the CPU", true]);
    expect(gpuText({ gpu: "MI300X", simulated: false })).toBe("MI300X");
  });
});
