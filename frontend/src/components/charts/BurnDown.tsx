/** Remaining credits over time, the forecast, and the alert threshold. */
import { useMemo } from "react";
import { dateTime, dollars } from "../../lib/format";
import { Chart } from "./Chart";
import { dollarAxis, type ChartSpec, type Series } from "./chartSpec";
import { extentOf } from "./scales";
import { day } from "./timeAxis";

export interface Point {
  at: number;
  usd: number;
}

/** When the credits will run out: the most likely time and a 90% interval. */
export interface RunOut {
  earliest: number;
  likely: number;
  latest: number;
}

interface Props {
  points: readonly Point[];
  credits: number;
  alertAt: number;
  runOut: RunOut | null;
}

const DAY_MS = 86_400_000;

export function BurnDown({ points, credits, alertAt, runOut }: Props): React.JSX.Element | null {
  const spec = useMemo(() => burnDownSpec(points, credits, alertAt, runOut), [points, credits, alertAt, runOut]);
  return spec === null ? null : <Chart spec={spec} />;
}

/** Describe the chart; null if there is no point. */
export function burnDownSpec(points: readonly Point[], credits: number, alertAt: number, runOut: RunOut | null): ChartSpec | null {
  const now = points.at(-1);
  if (now === undefined) return null;
  const [from, to] = timeRange(points, runOut);
  const future = runOut === null ? [] : [runOut.earliest, runOut.likely, runOut.latest].filter((at) => at > now.at && at < to);
  const xs = [...new Set([from, ...points.map(({ at }) => at), ...future, to])].sort((a, b) => a - b);
  const past = new Map(points.map(({ at, usd }) => [at, usd]));
  const remaining = xs.map((at) => past.get(at) ?? null);
  const forecast = (emptyAt: number): (number | null)[] => xs.map((at) => (at < now.at ? null : declineAt(now, emptyAt, at)));
  const likely = runOut === null ? xs.map(() => null) : forecast(runOut.likely);
  return {
    summary: description(points, credits, alertAt, runOut),
    heightPx: 230,
    x: { kind: "time", label: "", extent: [from, to] },
    y: dollarAxis("Credits (USD)", extentOf([0, credits, alertAt, ...points.map(({ usd }) => usd)])),
    xs,
    series: [
      ...(runOut === null ? [] : forecastSeries(forecast(runOut.earliest), likely, forecast(runOut.latest))),
      { name: `Alert at ${dollars(alertAt)}`, color: "var(--bad)", mark: { kind: "line", width: 1.5, dash: [2, 3] }, values: xs.map(() => alertAt) },
      { name: "Remaining", color: "var(--info)", mark: { kind: "line" }, values: remaining },
    ],
    readout: (index) => readout(xs[index] ?? 0, remaining[index] ?? null, likely[index] ?? null),
    table: {
      columns: [{ name: "time" }, { name: "remaining_usd", format: dollars }, { name: "forecast_usd", format: dollars }],
      rows: xs.map((at, index) => [new Date(at).toISOString(), remaining[index] ?? null, likely[index] ?? null]),
    },
    fileName: "credits",
  };
}

function forecastSeries(lower: (number | null)[], likely: (number | null)[], upper: (number | null)[]): Series[] {
  const band = "color-mix(in srgb, var(--info) 18%, transparent)";
  return [
    { name: "Forecast, 90% interval", color: band, mark: { kind: "band", lower, upper }, values: lower.map(() => null) },
    { name: "Forecast", color: "var(--info)", mark: { kind: "line", width: 1.5, dash: [5, 4] }, values: likely },
  ];
}

function readout(at: number, remaining: number | null, likely: number | null): string {
  const time = dateTime(new Date(at).toISOString()).slice(0, -3);
  if (remaining !== null) return `${time}: ${dollars(remaining)} remaining`;
  return likely === null ? time : `${time}: likely ${dollars(likely)} remaining`;
}

/** The time range of the axis: as far into the future as into the past, at least a day, at most until the latest run-out. */
export function timeRange(points: readonly Point[], runOut: RunOut | null): [number, number] {
  const last = points.at(-1)?.at ?? 0;
  const first = Math.min(points[0]?.at ?? last, last - DAY_MS);
  if (runOut === null) return [first, last];
  return [first, Math.min(Math.max(runOut.latest, last + DAY_MS), last + Math.max(DAY_MS, last - first))];
}

/** The credits at a time, if they decline linearly from the current ones to zero. */
export function declineAt(now: Point, emptyAt: number, at: number): number {
  if (at >= emptyAt) return at <= now.at ? now.usd : 0;
  return now.usd * (1 - Math.max(0, at - now.at) / (emptyAt - now.at));
}

function description(points: readonly Point[], credits: number, alertAt: number, runOut: RunOut | null): string {
  const left = points.at(-1)?.usd ?? 0;
  const forecast = runOut === null ? "" : `; likely to run out on ${day(runOut.likely)}`;
  return `${dollars(left)} of ${dollars(credits)} remaining; alert at ${dollars(alertAt)}${forecast}`;
}
