/** What the view works out of the service's figures. Pure; times in ms by the service's clock. */
import type { Ahead } from "../../parts/figures/BurnDown";
import type { Credits, DayCost, Forecast, Lane, Meter, Vm } from "../../lib/types";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const METERS: readonly Meter[] = ["PROVISIONING", "WORK", "IDLE"];
export const METER_NAMES: Record<Meter, string> = { PROVISIONING: "Booting", WORK: "Working", IDLE: "Idle" };

/** What a VM came to by now: what the service said at `saidAt`, and its rate since. */
export function costNow(vm: Vm, ratePerHour: number, saidAt: number, now: number): number {
  if (vm.started_at === null) return vm.cost_usd;
  return vm.cost_usd + (ratePerHour * Math.max(0, now - saidAt)) / HOUR_MS;
}

/** What one VM costs an hour: the service says it for all that are billed. */
export function rateOf(vms: readonly Vm[], money: Credits): number {
  const billed = vms.filter((vm) => vm.started_at !== null).length;
  return billed === 0 ? 0 : money.burn_usd_per_h / billed;
}

/** Seconds until an idle VM is released; null where nothing is planned. */
export function releasedInS(vm: Vm, now: number): number | null {
  if (vm.deadline_at === null) return null;
  return Math.max(0, (Date.parse(vm.deadline_at) - now) / 1000);
}

/** The share of what is kept warm that is left, 1 to 0. */
export function idleShare(vm: Vm, lane: Lane | undefined, now: number): number | null {
  const idle = lane?.pieces.at(-1);
  if (vm.deadline_at === null || idle?.meter !== "IDLE") return null;
  const end = Date.parse(vm.deadline_at);
  const start = Date.parse(idle.started_at);
  return end > start ? Math.min(1, Math.max(0, (end - now) / (end - start))) : 0;
}

/** Seconds of a lane by what the VM did, with what goes on up to `now`. */
export function secondsBy(lane: Lane, now: number): Record<Meter, number> {
  const sums: Record<Meter, number> = { PROVISIONING: 0, WORK: 0, IDLE: 0 };
  for (const piece of lane.pieces) {
    const end = piece.open ? Math.max(now, Date.parse(piece.ended_at)) : Date.parse(piece.ended_at);
    sums[piece.meter] += (end - Date.parse(piece.started_at)) / 1000;
  }
  return sums;
}

export interface Bar {
  day: string;
  total: number;
  by: Record<Meter, number>;
}

/** One bar for every day from the first that cost something, and a week at least: days without cost are days too. */
export function everyDay(days: readonly DayCost[], now: number, least = 7, most = 31): Bar[] {
  const today = Math.floor(now / DAY_MS);
  const first = days[0] === undefined ? today : Math.floor(Date.parse(days[0].day) / DAY_MS);
  const count = Math.min(most, Math.max(least, today - first + 1));
  const known = new Map(days.map((each) => [each.day, each]));
  return Array.from({ length: count }, (_, index) => {
    const day = new Date((today - count + 1 + index) * DAY_MS).toISOString().slice(0, 10);
    const found = known.get(day);
    const by: Record<Meter, number> = { PROVISIONING: 0, WORK: 0, IDLE: 0 };
    found?.meters.forEach(({ meter, cost_usd }) => (by[meter] += cost_usd));
    return { day, total: found?.cost_usd ?? 0, by };
  });
}

export interface Pace {
  usdPerDay: number;
  /** How many of the last days it was taken from. */
  days: number;
  /** When nothing is left if it goes on so. */
  emptyAt: number;
}

/** How fast the credits went of late, and until when they last so. */
export function pace(days: readonly DayCost[], remaining: number, now: number, last = 7): Pace | null {
  const bars = everyDay(days, now, 1);
  const recent = bars.slice(-last);
  const spent = recent.reduce((sum, bar) => sum + bar.total, 0);
  if (days.length === 0 || spent <= 0) return null;
  // The first day of all and today are no whole days.
  const usdPerDay = spent / recent.length;
  return { usdPerDay, days: recent.length, emptyAt: now + (remaining / usdPerDay) * DAY_MS };
}

/** Days for people; the service calls ten years for ever. */
export function lasting(days: number): string {
  if (days >= 3650) return "more than ten years";
  if (days >= 730) return `${(days / 365).toFixed(1)} years`;
  if (days >= 90) return `${Math.round(days / 30.4)} months`;
  return days < 1.5 ? "a day" : `${Math.round(days)} days`;
}

/** When the credits end, as the service foresees it or at the pace of late; null: not in ten years. */
export function aheadOf(told: Forecast | null, going: Pace | null, now: number): Ahead | null {
  if (told !== null) {
    const { low, mid, high } = told.lasts_days;
    if (mid >= 3650) return null;
    return { soonest: now + low * DAY_MS, likely: now + mid * DAY_MS, latest: now + high * DAY_MS };
  }
  if (going === null || going.emptyAt - now > 3650 * DAY_MS) return null;
  return { soonest: going.emptyAt, likely: going.emptyAt, latest: going.emptyAt };
}

/** What part of all tasks found a warm VM, in percent. */
export function warmShare(cold: number, warm: number): number | null {
  return cold + warm === 0 ? null : (100 * warm) / (cold + warm);
}
