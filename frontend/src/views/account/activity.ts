/** The days of the activity picture: 53 weeks, each from Sunday to Saturday, until today (UTC). */
import type { ActivityDay } from "../../lib/generated";

const DAY_MS = 86_400_000;
const WEEKS = 53;

export interface GridDay {
  day: string;
  submissions: number;
}

export function activityGrid(activity: readonly ActivityDay[], now: Date): GridDay[] {
  const byDay = new Map(activity.map(({ day, submissions }) => [day, submissions]));
  const today = Math.floor(now.getTime() / DAY_MS);
  const first = today - now.getUTCDay() - (WEEKS - 1) * 7;
  return Array.from({ length: today - first + 1 }, (_, index) => {
    const day = new Date((first + index) * DAY_MS).toISOString().slice(0, 10);
    return { day, submissions: byDay.get(day) ?? 0 };
  });
}

/** The shade of a day: 0 without submissions, up to 3. */
export function level(submissions: number): number {
  if (submissions === 0) return 0;
  return submissions < 4 ? 1 : submissions < 12 ? 2 : 3;
}

export interface MonthLabel {
  name: string;
  /** The column of the week in which the month begins. */
  week: number;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** A label is wider than two weeks. */
const LABEL_WEEKS = 3;

/** The months that begin in the grid, where their labels fit. */
export function monthLabels(days: readonly GridDay[]): MonthLabel[] {
  return days
    .map(({ day }, index) => ({ day, week: Math.floor(index / 7) }))
    .filter(({ day, week }) => day.endsWith("-01") && week <= WEEKS - LABEL_WEEKS)
    .map(({ day, week }) => ({ name: MONTHS[Number(day.slice(5, 7)) - 1] ?? "", week }));
}
