import { describe, expect, it } from "vitest";
import type { SubmissionEvent } from "../../lib/generated";
import { eventLines } from "./eventLines";

let id = 0;
const at = (second: number, fields: object): SubmissionEvent =>
  ({ id: ++id, time: new Date(second * 1000).toISOString(), ...fields }) as SubmissionEvent;
const passed = (second: number, number: number): SubmissionEvent =>
  at(second, {
    status: "TEST_RESULT",
    total_tests: 3,
    result: { test_id: number, name: `${number}`, status: "PASSED" },
  });

describe("eventLines", () => {
  it("counts seconds from the first event", () => {
    const lines = eventLines([
      at(10, { status: "IN_QUEUE", position: 0, quote: { wait_s: 0 } }),
      at(12.5, { status: "COMPILING", compiler: "g++" }),
    ]);
    expect(lines.map((line) => line.atS)).toEqual([0, 2.5]);
  });

  it("combines consecutive passed cases", () => {
    const lines = eventLines([
      at(0, { status: "CHECKING", total_tests: 3, compile_s: 0.2 }),
      passed(1, 1),
      passed(2, 2),
      passed(3, 3),
    ]);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toEqual({ atS: 3, title: "Cases passed", detail: "3 of 3", tone: "good" });
  });

  it("lists each provisioning phase once", () => {
    const provisioning = (second: number, phase: string): SubmissionEvent =>
      at(second, { status: "PROVISIONING", phase, elapsed_s: second, eta_s: null });
    expect(
      eventLines([provisioning(0, "requested"), provisioning(1, "requested"), provisioning(2, "booting")]).map((line) => line.detail),
    ).toEqual(["cold start: requested", "cold start: booting"]);
  });

  it("ends with the first line of a failure message", () => {
    const lines = eventLines([
      at(0, { status: "WRONG_ANSWER", message: "case 2 is wrong\nmore", code: "X", hint: "", details: {} }),
    ]);
    expect(lines[0]).toEqual({ atS: 0, title: "Wrong answer", detail: "case 2 is wrong", tone: "bad" });
  });
});
