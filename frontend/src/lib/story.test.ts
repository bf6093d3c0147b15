import { describe, expect, it } from "vitest";
import { begin, bootProgress, isLast, tell } from "./story";
import type { StreamEvent } from "./types";

const AT = Date.parse("2026-01-31T12:00:00.000Z");

/** Events with ids and times in order, one a second. */
function events(...bodies: object[]): StreamEvent[] {
  return bodies.map(
    (body, at) => ({ id: at + 1, time: new Date(AT + 1000 * at).toISOString(), ...body }) as unknown as StreamEvent,
  );
}

const QUEUED = { status: "IN_QUEUE", submission_id: "sub_1", position: 2, quote: { vm_state: "COLD_START" } };
const READY = { status: "VM_READY", vm_id: "vm_1", vm_state: "COLD_START", gpu: "MI300X", simulated: true, attempt: 1 };
const CASE = { test_id: 1, name: "n = 1", status: "PASSED" };
const TIMING = { test_id: 1, name: "n = 1", runtime_ms: 2, ci: [1.9, 2.1], runs: [2, 2.1, 1.9] };
const booting = (elapsed_s: number, phase: string): object => ({
  status: "PROVISIONING",
  vm_state: "COLD_START",
  vm_id: "vm_1",
  phase,
  elapsed_s,
  eta_s: 100 - elapsed_s,
});

describe("the story of a submission", () => {
  it("goes through every stage in the order of the events", () => {
    const all = events(
      QUEUED,
      booting(0, "asked for"),
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
    const stages = all.map((_, at) => tell(begin("submit"), all.slice(0, at + 1)).stage);
    expect(stages.filter((stage, at) => stage !== stages[at - 1])).toEqual([
      "queue",
      "boot",
      "compile",
      "check",
      "benchmark",
      "done",
    ]);
    const story = tell(begin("submit"), all);
    expect(story.ending?.status).toBe("ACCEPTED");
    expect(story.since.check).toBe(AT + 4000);
  });

  it("is the same however often and in however many pieces the events come", () => {
    const all = events(QUEUED, READY, { status: "CHECKING", total_tests: 1, compile_s: 1 }, { status: "TEST_RESULT", result: CASE, total_tests: 1 });
    const once = tell(begin("submit"), all);
    const pieces = all.reduce((story, event) => tell(tell(story, [event]), all.slice(0, 2)), begin("submit"));
    expect(pieces).toEqual(once);
  });

  it("ends with what was asked for: a check with CHECKED, a submission not", () => {
    const [checked] = events({ status: "CHECKED" });
    if (checked === undefined) throw new Error("no event");
    expect(isLast("checker", checked)).toBe(true);
    expect(isLast("submit", checked)).toBe(false);
  });

  it("forgets what a lost VM did when another begins anew", () => {
    const story = tell(
      begin("submit"),
      events(QUEUED, READY, { status: "TEST_RESULT", result: CASE, total_tests: 1 }, { ...READY, vm_id: "vm_2", attempt: 2 }),
    );
    expect(story.tests).toEqual([]);
    expect(story.vm?.attempt).toBe(2);
  });
});

describe("the progress of a boot", () => {
  const story = tell(begin("submit"), events(QUEUED, booting(0, "asked for"), booting(20, "booting"), booting(30, "booting")));

  it("moves on between events and remembers the phases", () => {
    if (story.boot === null) throw new Error("no boot");
    const progress = bootProgress(story.boot, story.boot.atMs + 20_000);
    expect(progress).toEqual({ elapsedS: 50, expectedS: 100, share: 0.5, overdueS: 0 });
    expect(story.boot.phases.map((each) => each.phase)).toEqual(["asked for", "booting"]);
  });

  it("says that it is overdue, and is never full before the VM is there", () => {
    if (story.boot === null) throw new Error("no boot");
    const progress = bootProgress(story.boot, story.boot.atMs + 130_000);
    expect(progress.overdueS).toBe(60);
    expect(progress.share).toBe(0.97);
  });

  it("is not thrown back by a clock that is behind the service's", () => {
    if (story.boot === null) throw new Error("no boot");
    expect(bootProgress(story.boot, story.boot.atMs - 5000).elapsedS).toBe(30);
  });
});
