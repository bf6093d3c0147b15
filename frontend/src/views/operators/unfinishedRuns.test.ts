import { expect, test } from "vitest";
import type { QueueEntry, VmResponse } from "../../lib/generated";
import { unfinishedRuns } from "./unfinishedRuns";

const entry: QueueEntry = { position: 0, since: "2026-01-31T12:00:00Z", submission_id: "sub_2", user: "bob", problem: "relu", endpoint: "submit" };
const task = { since: "2026-01-31T11:59:00Z", slot: 0, submission_id: "sub_1", user: "ada", problem: "matmul", endpoint: "checker" };

test("submissions on VMs are listed before queued ones", () => {
  const vms = [{ tasks: [task] } as unknown as VmResponse];
  const runs = unfinishedRuns({ vms, queue: { length: 1, items: [entry] } });
  expect(runs.map(({ id, user, state }) => [id, user, state])).toEqual([
    ["sub_1", "ada", "Running"],
    ["sub_2", "bob", "Queued"],
  ]);
});

test("a submission that the caller may not see is left out", () => {
  expect(unfinishedRuns({ vms: [], queue: { length: 1, items: [{ ...entry, submission_id: null }] } })).toEqual([]);
});
