/** Values that the view derives from the service's data. Pure; times are in ms by the service's clock. */
import type { RunOut } from "../../components/charts/BurnDown";
import { dollars, span } from "../../lib/format";
import type { CpuNodeCosts, CreditsResponse, DailyMeterCosts, ForecastResponse, VmTimelineResponse, Meter, VmDevice, VmResponse } from "../../lib/generated";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const METERS: readonly Meter[] = ["PROVISIONING", "WORK", "IDLE"];
export const METER_NAMES: Record<Meter, string> = { PROVISIONING: "Provisioning", WORK: "Work", IDLE: "Idle" };

/** The current cost of a VM: the cost at `fetchedAt` plus its rate since. */
export function costNow(vm: VmResponse, ratePerHour: number, fetchedAt: number, now: number): number {
  if (vm.started_at === null) return vm.cost_usd;
  return vm.cost_usd + (ratePerHour * Math.max(0, now - fetchedAt)) / HOUR_MS;
}

/** A GPU of a VM in one line, without unknown values. */
export function deviceText(device: VmDevice): string {
  const { arch, name, compute_units: units, memory_bytes: memory, partition, driver_version: driver } = device;
  const facts = [
    name === "" ? arch : `${name} (${arch})`,
    units > 0 ? `${units} CUs` : "",
    memory > 0 ? `${Math.round(memory / 1e9)} GB` : "",
    partition,
    driver === "" ? "" : `driver ${driver}`,
  ];
  return facts.filter((fact) => fact !== "").join(", ");
}

/** The cost per hour of one VM; the service reports the total of all billed VMs. */
export function hourlyRate(vms: readonly VmResponse[], money: CreditsResponse): number {
  const billed = vms.filter((vm) => vm.started_at !== null).length;
  return billed === 0 ? 0 : money.burn_usd_per_h / billed;
}

/** Seconds until an idle VM is released; null if no release is scheduled. */
export function releasedInS(vm: VmResponse, now: number): number | null {
  if (vm.deadline_at === null) return null;
  return Math.max(0, (Date.parse(vm.deadline_at) - now) / 1000);
}

/** The share of the idle timeout that remains, from 1 to 0. */
export function idleTimeLeft(vm: VmResponse, lane: VmTimelineResponse | undefined, now: number): number | null {
  const idle = lane?.pieces.at(-1);
  if (vm.deadline_at === null || idle?.meter !== "IDLE") return null;
  const end = Date.parse(vm.deadline_at);
  const start = Date.parse(idle.started_at);
  return end > start ? Math.min(1, Math.max(0, (end - now) / (end - start))) : 0;
}

/** Sum up the seconds of a VM by meter; an open interval counts up to `now`. */
export function secondsByMeter(lane: VmTimelineResponse, now: number): Record<Meter, number> {
  const totals: Record<Meter, number> = { PROVISIONING: 0, WORK: 0, IDLE: 0 };
  for (const interval of lane.pieces) {
    const end = interval.open ? Math.max(now, Date.parse(interval.ended_at)) : Date.parse(interval.ended_at);
    totals[interval.meter] += (end - Date.parse(interval.started_at)) / 1000;
  }
  return totals;
}

export interface DailyCost {
  day: string;
  total: number;
  by: Record<Meter, number>;
}

/** The cost of every day since the first cost, including days without cost; at least 7 and at most 31 days. */
export function dailyCosts(days: readonly DailyMeterCosts[], now: number, min = 7, max = 31): DailyCost[] {
  const today = Math.floor(now / DAY_MS);
  const first = days[0] === undefined ? today : Math.floor(Date.parse(days[0].day) / DAY_MS);
  const count = Math.min(max, Math.max(min, today - first + 1));
  const byDay = new Map(days.map((cost) => [cost.day, cost]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date((today - count + 1 + index) * DAY_MS).toISOString().slice(0, 10);
    const cost = byDay.get(day);
    const by: Record<Meter, number> = { PROVISIONING: 0, WORK: 0, IDLE: 0 };
    cost?.meters.forEach(({ meter, cost_usd }) => (by[meter] += cost_usd));
    return { day, total: cost?.cost_usd ?? 0, by };
  });
}

export interface BurnRate {
  usdPerDay: number;
  /** The number of days it is averaged over. */
  days: number;
  /** When the credits run out at this rate. */
  emptyAt: number;
}

/** The average cost per day of the last week; null if nothing was spent. */
export function burnRate(days: readonly DailyMeterCosts[], remaining: number, now: number, window = 7): BurnRate | null {
  const recent = dailyCosts(days, now, 1).slice(-window);
  const spent = recent.reduce((sum, { total }) => sum + total, 0);
  if (days.length === 0 || spent <= 0) return null;
  const usdPerDay = spent / recent.length;
  return { usdPerDay, days: recent.length, emptyAt: now + (remaining / usdPerDay) * DAY_MS };
}

/** Format a number of days. The service reports 3,650 for anything longer. */
export function daysText(days: number): string {
  if (days >= 3650) return "more than 10 years";
  if (days >= 730) return `${(days / 365).toFixed(1)} years`;
  if (days >= 90) return `${Math.round(days / 30.4)} months`;
  return days < 1.5 ? "1 day" : `${Math.round(days)} days`;
}

/** What CPU nodes cost and save, with the comparison that the saving is based on. */
export function cpuNodesText({ seconds, cost_usd, gpu_type, gpu_usd, saved_usd }: CpuNodeCosts): string {
  const comparison = `the same time on VMs with an ${gpu_type} would have cost ${dollars(gpu_usd)}`;
  const saved = saved_usd < 0 ? `${dollars(-saved_usd)} more` : `${dollars(saved_usd)} saved`;
  return `CPU nodes judged checks: ${span(seconds)} for ${dollars(cost_usd)}; ${comparison}: ${saved}.`;
}

/** When the credits run out, by the service's forecast or else the burn rate; null if not within ten years. */
export function runOutOf(forecast: ForecastResponse | null, rate: BurnRate | null, now: number): RunOut | null {
  if (forecast !== null) {
    const { low, mid, high } = forecast.lasts_days;
    if (mid >= 3650) return null;
    return { earliest: now + low * DAY_MS, likely: now + mid * DAY_MS, latest: now + high * DAY_MS };
  }
  if (rate === null || rate.emptyAt - now > 3650 * DAY_MS) return null;
  return { earliest: rate.emptyAt, likely: rate.emptyAt, latest: rate.emptyAt };
}

/** The percentage of submissions that found a warm VM. */
export function warmShare(cold: number, warm: number): number | null {
  return cold + warm === 0 ? null : (100 * warm) / (cold + warm);
}
