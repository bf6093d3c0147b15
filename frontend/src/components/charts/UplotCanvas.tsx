/** The canvas of a chart, drawn by uPlot. It is the only module that imports uPlot, and is loaded with the first chart. */
import { useEffect, useLayoutEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { resolveColors, useThemeKey } from "./chartColors";
import { tickLabels, viewOf, type Axis, type ChartSpec, type View, type Zoom } from "./chartSpec";
import { drawBand, drawBoxes, drawDots, drawLabels, drawLineName, type TextBox } from "./marks";

interface Props {
  spec: ChartSpec;
  width: number;
  zoom: Zoom | null;
  /** Names of series that are not shown. */
  hidden: ReadonlySet<string>;
  /** The index of the crosshair, or null. */
  cursor: number | null;
  onCursor: (index: number | null) => void;
  onZoom: (zoom: Zoom | null) => void;
}

const THEME = {
  text: "var(--dim)",
  grid: "var(--line)",
  axis: "var(--line-strong)",
  surface: "var(--surface)",
  labelText: "var(--accent-text)",
};
/** A smaller selection is a click. */
const MIN_SELECTION_PX = 6;
const SELECT_BOTH_PX = 24;
/** The space above the plot, where the values at the crosshair are shown. */
const READOUT_PX = 22;

export default function UplotCanvas({ spec, width, zoom, hidden, cursor, onCursor, onZoom }: Props): React.JSX.Element {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const view = useRef<View | null>(null);
  const handlers = useRef({ onCursor, onZoom });
  const theme = useThemeKey();

  useEffect(() => {
    handlers.current = { onCursor, onZoom };
  });
  useLayoutEffect(() => {
    view.current = viewOf(spec, zoom, { width, height: spec.heightPx });
  }, [spec, zoom, width]);
  // A new plot per description: the descriptions of live charts change every few seconds, which is cheap to draw.
  useLayoutEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const events = {
      view: (): View | null => view.current,
      cursor: (index: number | null): void => handlers.current.onCursor(index),
      zoom: (next: Zoom | null): void => handlers.current.onZoom(next),
    };
    const created = new uPlot(options(spec, element, events), alignedData(spec), element);
    plot.current = created;
    return () => {
      created.destroy();
      plot.current = null;
    };
  }, [spec, theme]);
  useLayoutEffect(() => {
    const [current, shown] = [plot.current, view.current];
    if (current === null || shown === null) return;
    current.batch(() => {
      if (current.width !== width) current.setSize({ width, height: spec.heightPx });
      spec.series.forEach(({ name }, index) => {
        const show = !hidden.has(name);
        if (current.series[index + 1]?.show !== show) current.setSeries(index + 1, { show });
      });
      current.setScale("x", shown.x);
      current.setScale("y", shown.y);
    });
  }, [spec, theme, width, zoom, hidden]);
  useEffect(() => {
    const current = plot.current;
    const at = cursor === null ? undefined : spec.xs[cursor];
    if (current === null || current.cursor.idx === cursor) return;
    if (at === undefined) current.setCursor({ left: -10, top: -10 }, false);
    else current.setCursor({ left: current.valToPos(at, "x"), top: current.over.clientHeight / 2 }, false);
  }, [spec, cursor]);
  return <div ref={container} />;
}

interface Events {
  view: () => View | null;
  cursor: (index: number | null) => void;
  zoom: (zoom: Zoom | null) => void;
}

function options(spec: ChartSpec, element: HTMLElement, events: Events): uPlot.Options {
  const colors = resolveColors(element, THEME);
  const seriesColors = resolveColors(element, Object.fromEntries(spec.series.map(({ name, color }) => [name, color])));
  const family = getComputedStyle(element).fontFamily;
  let names: TextBox[] = [];
  const range = (axis: "x" | "y") => (): uPlot.Range.MinMax => {
    const shown = events.view()?.[axis];
    return shown === undefined ? [0, 1] : [shown.min, shown.max];
  };
  return {
    width: Math.max(200, element.clientWidth),
    height: spec.heightPx,
    padding: [READOUT_PX, null, null, null],
    legend: { show: false },
    scales: {
      x: { time: false, distr: scaleKind(spec.x), range: range("x") },
      y: { distr: scaleKind(spec.y), dir: spec.y.kind === "category" ? -1 : 1, range: range("y") },
    },
    axes: [axisOptions(spec, "x", colors, family, events), axisOptions(spec, "y", colors, family, events)],
    series: [{}, ...spec.series.map((series) => seriesOptions(series, seriesColors[series.name] ?? ""))],
    cursor: {
      drag: { x: true, y: true, uni: SELECT_BOTH_PX, setScale: false },
      points: { show: (_, index) => pointMark(spec, index, seriesColors) },
    },
    hooks: {
      drawClear: [() => void (names = [])],
      drawSeries: [(plot, index) => drawMark(plot, spec, index, seriesColors, { ...colors, font: font(family, 600) }, names)],
      setCursor: [(plot) => events.cursor(plot.cursor.idx ?? null)],
      setSelect: [(plot) => selected(plot, events)],
      ready: [
        (plot) => {
          plot.over.addEventListener("dblclick", () => events.zoom(null));
          plot.over.addEventListener("mouseleave", () => events.cursor(null));
        },
      ],
    },
  };
}

/** Linear or logarithmic. */
function scaleKind(axis: Axis): uPlot.Scale.Distr {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the enumeration exists only in uPlot's types
  const kind: uPlot.Scale.Distr = axis.kind === "log" ? 3 : 1;
  return kind;
}

type ThemeColors = typeof THEME;

function axisOptions(spec: ChartSpec, which: "x" | "y", colors: ThemeColors, family: string, events: Events): uPlot.Axis {
  const axis = spec[which];
  return {
    scale: which,
    stroke: colors.text,
    font: `12px ${family}`,
    ...(axis.label === "" ? {} : { label: axis.label, labelFont: `12px ${family}`, labelSize: 18, labelGap: 2 }),
    grid: { stroke: colors.grid, width: 1, show: !(which === "x" && axis.kind === "category") },
    ticks: { stroke: colors.grid, size: 4, width: 1 },
    border: { show: true, stroke: colors.axis, width: 1 },
    gap: 4,
    size: which === "x" ? 26 : (plot, labels) => labelWidth(plot, labels, family),
    splits: () => [...(events.view()?.[which].ticks ?? [])],
    values: (_, ticks) => tickLabels(axis, ticks),
    filter: (_, ticks) => ticks,
  };
}

function labelWidth({ ctx }: uPlot, labels: string[] | null, family: string): number {
  ctx.font = `${12 * devicePixelRatio}px ${family}`;
  return 12 + Math.max(12, ...(labels ?? []).map((label) => ctx.measureText(label).width / devicePixelRatio));
}

function seriesOptions({ mark }: ChartSpec["series"][number], color: string): uPlot.Series {
  const base = { scale: "y", points: { show: false } };
  if (mark.kind !== "line") return { ...base, stroke: color, paths: () => null };
  const dash = mark.dash === undefined ? {} : { dash: [...mark.dash] };
  return { ...base, stroke: color, width: mark.width ?? 2, spanGaps: true, ...dash };
}

/** The mark of the crosshair on a series; only lines and dots have one. */
function pointMark(spec: ChartSpec, index: number, colors: Record<string, string>): HTMLElement {
  const series = spec.series[index - 1];
  const point = document.createElement("div");
  point.className = "chart-cursor-point";
  point.hidden = series?.mark.kind !== "line" && series?.mark.kind !== "dots";
  point.style.background = colors[series?.name ?? ""] ?? "";
  return point;
}

function drawMark(plot: uPlot, spec: ChartSpec, index: number, colors: Record<string, string>, theme: ThemeColors & { font: string }, names: TextBox[]): void {
  const series = spec.series[index - 1];
  const values = plot.data[index];
  if (series === undefined || values === undefined) return;
  const color = colors[series.name] ?? "";
  if (series.mark.kind === "line") {
    if (series.mark.label !== undefined) drawLineName(plot, values, series.mark.label, color, theme.font, names);
    return;
  }
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 1, bbox.top - 1, bbox.width + 2, bbox.height + 2);
  if (series.mark.kind !== "labels") ctx.clip();
  if (series.mark.kind === "dots") {
    const [from, to] = plot.series[0]?.idxs ?? [0, values.length - 1];
    drawDots(plot, values, from, to, color);
  } else if (series.mark.kind === "boxes") {
    drawBoxes(plot, series.mark, color);
  } else if (series.mark.kind === "band") {
    drawBand(plot, series.mark.lower, series.mark.upper, color);
  } else {
    const { min: x0, max: x1 } = plot.scales.x ?? {};
    const { min: y0, max: y1 } = plot.scales.y ?? {};
    const inside = series.mark.labels.filter(({ x, y }) => x >= (x0 ?? x) && x <= (x1 ?? x) && y >= (y0 ?? y) && y <= (y1 ?? y));
    drawLabels(plot, inside, { fill: color, text: theme.labelText, edge: theme.surface, font: theme.font });
  }
  ctx.restore();
}

function font(family: string, weight: number): string {
  return `${weight} ${11 * devicePixelRatio}px ${family}`;
}

/** Zoom to the area that was selected with the pointer. */
function selected(plot: uPlot, events: Events): void {
  const { left, top, width, height } = plot.select;
  if (width < MIN_SELECTION_PX && height < MIN_SELECTION_PX) return;
  const shown = events.view();
  if (shown !== null) {
    const fullX = width < MIN_SELECTION_PX || width >= plot.over.clientWidth;
    const fullY = height < MIN_SELECTION_PX || height >= plot.over.clientHeight;
    const ys = [plot.posToVal(top + height, "y"), plot.posToVal(top, "y")].sort((a, b) => a - b);
    events.zoom({
      x: fullX ? [shown.x.min, shown.x.max] : [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")],
      y: fullY ? null : [ys[0] ?? 0, ys[1] ?? 0],
    });
  }
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function alignedData({ xs, series }: ChartSpec): uPlot.AlignedData {
  return [xs as number[], ...series.map(({ values }) => values as (number | null)[])];
}
