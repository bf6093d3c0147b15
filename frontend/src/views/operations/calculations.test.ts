import { expect, test } from "vitest";
import type { VmTimelineResponse, VmResponse } from "../../lib/generated";
import { burnRate, costNow, cpuNodesText, dailyCosts, daysText, deviceText, hourlyRate, idleTimeLeft, releasedInS, runOutOf, secondsByMeter, warmShare } from "./calculations";

const NOW = Date.parse("2026-01-31T12:00:00.000Z");

const VM: VmResponse = {
  id: "vm_1",
  provider: "local",
  gpu_type: "MI300X",
  gpu_count: 1,
  slots: 1,
  slots_used: 0,
  state: "IDLE",
  simulated: false,
  created_at: "2026-01-31T11:00:00.000Z",
  started_at: "2026-01-31T11:00:00.000Z",
  ready_at: "2026-01-31T11:05:00.000Z",
  deadline_at: "2026-01-31T12:02:30.000Z",
  ended_at: null,
  end_confirmed: null,
  machine_id: null,
  draining: false,
  pinned_until: null,
  rate_usd_per_h: 1.99,
  tasks_done: 3,
  cost_usd: 1.99,
  reserved_usd: 3,
  reason: "",
  tasks: [],
  devices: [],
  gpu_health: null,
};

const LANE: VmTimelineResponse = {
  vm_id: "vm_1",
  gpu_type: "MI300X",
  state: "IDLE",
  simulated: false,
  pieces: [
    { meter: "PROVISIONING", started_at: "2026-01-31T11:00:00.000Z", ended_at: "2026-01-31T11:05:00.000Z", open: false, submission_id: null },
    { meter: "WORK", started_at: "2026-01-31T11:05:00.000Z", ended_at: "2026-01-31T11:52:30.000Z", open: false, submission_id: "sub_1" },
    { meter: "IDLE", started_at: "2026-01-31T11:52:30.000Z", ended_at: "2026-01-31T11:59:00.000Z", open: true, submission_id: null },
  ],
};

test("the cost of a VM increases between two responses", () => {
  expect(costNow(VM, 1.99, NOW - 3_600_000, NOW)).toBeCloseTo(3.98);
  expect(costNow({ ...VM, started_at: null, cost_usd: 0 }, 1.99, NOW - 3_600_000, NOW)).toBe(0);
  expect(costNow(VM, 1.99, NOW + 5000, NOW)).toBe(1.99);
});

test("a GPU is described by what is known about it", () => {
  const device = { arch: "gfx942", name: "", compute_units: 0, memory_bytes: 0, partition: "", driver_version: "", hip_runtime_version: "" };
  expect(deviceText(device)).toBe("gfx942");
  const known = { ...device, name: "AMD Instinct MI300X", compute_units: 304, memory_bytes: 191e9, partition: "SPX/NPS1", driver_version: "6.12" };
  expect(deviceText(known)).toBe("AMD Instinct MI300X (gfx942), 304 CUs, 191 GB, SPX/NPS1, driver 6.12");
});

test("the hourly rate of a VM is its share of the total", () => {
  const money = { burn_usd_per_h: 3.98 } as Parameters<typeof hourlyRate>[1];
  expect(hourlyRate([VM, VM, { ...VM, started_at: null }], money)).toBeCloseTo(1.99);
  expect(hourlyRate([], money)).toBe(0);
});

test("an idle VM counts down to its release, and not below zero", () => {
  expect(releasedInS(VM, NOW)).toBe(150);
  expect(releasedInS(VM, NOW + 3_600_000)).toBe(0);
  expect(releasedInS({ ...VM, deadline_at: null }, NOW)).toBeNull();
  expect(idleTimeLeft(VM, LANE, NOW)).toBeCloseTo(0.25);
  expect(idleTimeLeft(VM, undefined, NOW)).toBeNull();
});

test("the seconds of a VM include the open interval", () => {
  expect(secondsByMeter(LANE, NOW)).toEqual({ PROVISIONING: 300, WORK: 2850, IDLE: 450 });
});

test("days without cost are included", () => {
  const costs = dailyCosts([{ day: "2026-01-29", cost_usd: 2, meters: [{ meter: "WORK", cost_usd: 2 }] }], NOW);
  expect(costs.map(({ day }) => day)).toEqual([
    "2026-01-25",
    "2026-01-26",
    "2026-01-27",
    "2026-01-28",
    "2026-01-29",
    "2026-01-30",
    "2026-01-31",
  ]);
  expect(costs.map(({ total }) => total)).toEqual([0, 0, 0, 0, 2, 0, 0]);
  expect(costs[4]?.by).toEqual({ PROVISIONING: 0, WORK: 2, IDLE: 0 });
});

test("at most a month is shown", () => {
  expect(dailyCosts([{ day: "2025-06-01", cost_usd: 1, meters: [] }], NOW)).toHaveLength(31);
});

test("the burn rate is the average since the first cost", () => {
  const rate = burnRate([{ day: "2026-01-30", cost_usd: 10, meters: [] }], 100, NOW);
  expect(rate).toEqual({ usdPerDay: 5, days: 2, emptyAt: NOW + 20 * 86_400_000 });
});

test("there is no burn rate if nothing was spent", () => {
  expect(burnRate([], 1400, NOW)).toBeNull();
  expect(burnRate([{ day: "2026-01-30", cost_usd: 0, meters: [] }], 1400, NOW)).toBeNull();
});

test("the warm share is a percentage of all submissions", () => {
  expect(warmShare(1, 3)).toBe(75);
  expect(warmShare(0, 0)).toBeNull();
});

test("days are formatted in days, months or years", () => {
  expect([1, 12.4, 100, 800, 3650].map(daysText)).toEqual(["1 day", "12 days", "3 months", "2.2 years", "more than 10 years"]);
});

test("the saving by CPU nodes is explained", () => {
  const nodes = { seconds: 7200, cost_usd: 0.2, gpu_type: "MI300X", gpu_usd: 3.98, saved_usd: 3.78 };
  expect(cpuNodesText(nodes)).toBe("CPU nodes judged checks: 2 h 00 min for $0.20; the same time on VMs with an MI300X would have cost $3.98: $3.78 saved.");
  expect(cpuNodesText({ ...nodes, saved_usd: -1 })).toContain("$1.00 more.");
});

test("the service's forecast takes precedence over the burn rate", () => {
  const day = 86_400_000;
  const range = { low: 10, mid: 20, high: 40 };
  const rate = { usdPerDay: 5, days: 2, emptyAt: NOW + 20 * day };
  expect(runOutOf({ days_seen: 5, month_usd: range, lasts_days: range }, rate, NOW)).toEqual({
    earliest: NOW + 10 * day,
    likely: NOW + 20 * day,
    latest: NOW + 40 * day,
  });
  expect(runOutOf(null, rate, NOW)?.latest).toBe(rate.emptyAt);
  expect(runOutOf(null, { ...rate, emptyAt: NOW + 5000 * day }, NOW)).toBeNull();
  expect(runOutOf(null, null, NOW)).toBeNull();
});
