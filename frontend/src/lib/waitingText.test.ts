import { expect, test } from "vitest";
import type { WaitingEvent } from "./generated";
import { waitingText } from "./waitingText";

const EVENT = {
  id: 3,
  time: "2026-01-31T12:00:00.000Z",
  schema: 1,
  status: "WAITING",
  kind: "NO_CAPACITY",
  reason: "No MI300X is available on amddevcloud.",
  waited_s: 75,
  retry_in_s: 40,
  ahead: 3,
  eta_s: 340,
  gives_up_in_s: 1725,
} satisfies WaitingEvent;

test("a reader sees why, when it is tried again, and the place in the queue", () => {
  expect(waitingText(EVENT)).toBe(
    "No MI300X is available on amddevcloud; retrying in 40 s; 3 ahead of you; if a VM is available then, starts in about 6 min",
  );
});

test("the times count down", () => {
  expect(waitingText({ ...EVENT, ahead: 0 }, 60)).toBe(
    "No MI300X is available on amddevcloud; retrying now; you are next; if a VM is available then, starts in about 5 min",
  );
});

test("a paused queue has no time of a next try", () => {
  const paused = { ...EVENT, kind: "INTAKE_PAUSED", reason: "An operator has paused the queue: New image.", retry_in_s: 0, eta_s: null, ahead: 0 };
  expect(waitingText(paused, 60)).toBe("An operator has paused the queue: New image; you are next");
});

test("a check that a GPU judges instead of a CPU node has no time of a next try", () => {
  const reason = "No CPU node can be provisioned (the key was refused); a VM with an MI300X will judge the check";
  const moved = { ...EVENT, kind: "NO_CPU_NODES", reason, retry_in_s: 0, eta_s: null };
  expect(waitingText(moved, 60)).toBe(`${reason}; 3 ahead of you`);
});
