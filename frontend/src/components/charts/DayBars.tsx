/** Cost per day, stacked by meter. */
import { useMemo } from "react";
import { dollars } from "../../lib/format";
import type { Meter } from "../../lib/generated";
import { Chart } from "./Chart";
import { dollarAxis, type Box, type ChartSpec } from "./chartSpec";
import { METER_COLORS } from "./meterColors";
import { utcDay } from "./timeAxis";

export interface DayBar {
  day: string;
  total: number;
  by: Record<Meter, number>;
}

interface Props {
  bars: readonly DayBar[];
  meters: readonly Meter[];
  names: Record<Meter, string>;
}

/** Half of the width of a bar, as a share of a day. */
const HALF = 0.35;

export function DayBars({ bars, meters, names }: Props): React.JSX.Element {
  const spec = useMemo(() => dayBarsSpec(bars, meters, names), [bars, meters, names]);
  return <Chart spec={spec} />;
}

export function dayBarsSpec(bars: readonly DayBar[], meters: readonly Meter[], names: Record<Meter, string>): ChartSpec {
  const maximum = Math.max(...bars.map((bar) => bar.total), 0);
  const sum = bars.reduce((total, bar) => total + bar.total, 0);
  const readout = (index: number): string => {
    const bar = bars[index];
    if (bar === undefined) return "";
    return `${utcDay(bar.day)}: ${dollars(bar.total)} (${meters.map((meter) => `${names[meter]} ${dollars(bar.by[meter])}`).join(", ")})`;
  };
  return {
    summary: `${dollars(sum)} in ${bars.length} days, at most ${dollars(maximum)} per day`,
    heightPx: 260,
    x: { kind: "category", label: "", extent: [0, Math.max(0, bars.length - 1)], names: bars.map((bar) => utcDay(bar.day)) },
    y: dollarAxis("Cost (USD)", [0, maximum || 0.01]),
    xs: bars.map((_, index) => index),
    series: meters.map((meter) => ({
      name: names[meter],
      color: METER_COLORS[meter],
      mark: { kind: "boxes", boxes: bars.map((bar, index) => boxOf(bar, index, meter, meters)) },
      values: bars.map((bar) => bar.by[meter]),
    })),
    readout,
    table: {
      columns: [{ name: "day" }, ...meters.map((meter) => ({ name: `${meter.toLowerCase()}_usd`, format: dollars })), { name: "total_usd", format: dollars }],
      rows: bars.map((bar) => [bar.day, ...meters.map((meter) => bar.by[meter]), bar.total]),
    },
    fileName: "cost-by-day",
  };
}

/** The part of a bar that belongs to a meter, above those of the meters before it. */
function boxOf(bar: DayBar, index: number, meter: Meter, meters: readonly Meter[]): Box {
  const below = meters.slice(0, meters.indexOf(meter)).reduce((sum, other) => sum + bar.by[other], 0);
  return { x0: index - HALF, x1: index + HALF, y0: below, y1: below + bar.by[meter] };
}
