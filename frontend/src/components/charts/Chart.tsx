/**
 * A chart with a crosshair, zoom, a legend whose entries can be switched off, the values as a table, and export.
 *
 * Pointer: drag to zoom, double click to reset. Keyboard: the arrow keys move the crosshair, + and − zoom, 0 resets.
 */
import { lazy, Suspense, useCallback, useId, useRef, useState } from "react";
import { plural } from "../../lib/format";
import { lazyImport } from "../../lib/lazyImport";
import { download } from "../../lib/download";
import { ChartTable } from "./ChartTable";
import { csvOf, lowerBound, zoomedBy, zoomText, type ChartSpec, type Mark, type Series, type Zoom } from "./chartSpec";
import { savePicture } from "./picture";
import { useWidth } from "./useWidth";
import "./charts.css";

const UplotCanvas = lazy(lazyImport(() => import("./UplotCanvas")));

const ZOOM_FACTOR = 2;

interface Props {
  spec: ChartSpec;
  /** Reveal the marks from left to right, unless motion is reduced. */
  animate?: boolean;
}

export function Chart({ spec, animate = false }: Props): React.JSX.Element {
  const [container, width] = useWidth<HTMLDivElement>();
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState<number | null>(null);
  const [table, setTable] = useState(false);
  const body = useRef<HTMLDivElement>(null);
  const tableId = useId();
  const zoomBy = (factor: number): void => setZoom(zoomedBy(spec, zoom, factor, share(spec, zoom, cursor)));
  const move = (step: number): void => setCursor(moved(spec, zoom, cursor, step));
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const action = keyAction(event, move, zoomBy, () => setZoom(null));
    if (action === null) return;
    event.preventDefault();
    action();
  };
  const toggle = useCallback(
    (name: string) =>
      setHidden((before) => {
        const after = new Set(before);
        if (!after.delete(name)) after.add(name);
        return after;
      }),
    [],
  );
  const label = zoom === null ? spec.summary : `${spec.summary}. ${zoomText(spec, zoom, width)}`;
  const readout = cursor === null || cursor >= spec.xs.length ? "" : spec.readout(cursor);
  return (
    <figure className="plot">
      <div className="plot-layout">
        <div className="plot-picture">
          <div ref={container} className="plot-body">
            <div ref={body} className={animate ? "plot-canvas reveal" : "plot-canvas"} role="img" aria-label={label}>
              <Suspense fallback={<div className="chart-placeholder" style={{ height: spec.heightPx }} />}>
                <UplotCanvas spec={spec} width={width} zoom={zoom} hidden={hidden} cursor={cursor} onCursor={setCursor} onZoom={setZoom} />
              </Suspense>
            </div>
            <div
              className="plot-crosshair"
              role="slider"
              tabIndex={0}
              aria-label={`Crosshair of ${spec.fileName}`}
              aria-valuemin={0}
              aria-valuemax={Math.max(0, spec.xs.length - 1)}
              aria-valuenow={cursor ?? 0}
              aria-valuetext={readout === "" ? "Arrow keys move, plus and minus zoom, 0 resets" : readout}
              onKeyDown={onKeyDown}
              onBlur={() => setCursor(null)}
            />
            <p className="plot-readout" aria-hidden="true">
              {readout}
            </p>
          </div>
          <div className="plot-footer">
            <Legend series={spec.series} hidden={hidden} toggle={toggle} />
            <div className="plot-tools">
              <button type="button" onClick={() => zoomBy(ZOOM_FACTOR)} aria-label="Zoom in" title="Zoom in; or drag across the chart">
                +
              </button>
              {zoom !== null && (
                <button type="button" onClick={() => setZoom(null)} title="Or double click the chart">
                  Reset zoom
                </button>
              )}
              <button type="button" aria-expanded={table} aria-controls={tableId} onClick={() => setTable(!table)}>
                Table
              </button>
              <button type="button" onClick={() => download(`${spec.fileName}.csv`, "text/csv", csvOf(spec.table))} aria-label="Save as CSV">
                CSV
              </button>
              <button type="button" onClick={() => void savePicture(body.current, spec, hidden)} aria-label="Save as PNG">
                PNG
              </button>
            </div>
          </div>
        </div>
        <div id={tableId} hidden={!table} className="plot-table">
          {table && <ChartTable table={spec.table} label={`${spec.fileName}: ${plural(spec.table.rows.length, "row")}`} />}
        </div>
      </div>
    </figure>
  );
}

interface LegendProps {
  series: readonly Series[];
  hidden: ReadonlySet<string>;
  toggle: (name: string) => void;
}

function Legend({ series, hidden, toggle }: LegendProps): React.JSX.Element {
  return (
    <ul className="plot-legend">
      {series.map(({ name, color, mark }) => (
        <li key={name}>
          <button type="button" aria-pressed={!hidden.has(name)} onClick={() => toggle(name)} title={hidden.has(name) ? "Show" : "Hide"}>
            <i className={`swatch ${swatch(mark)}`} style={{ color }} aria-hidden="true" />
            {name}
          </button>
        </li>
      ))}
    </ul>
  );
}

function swatch(mark: Mark): string {
  return mark.kind === "line" && mark.dash !== undefined ? "dashed" : mark.kind;
}

/** The action of a key; null if it has none. */
function keyAction(event: React.KeyboardEvent, move: (step: number) => void, zoomBy: (factor: number) => void, reset: () => void): (() => void) | null {
  const page = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case "ArrowLeft":
      return () => move(-page);
    case "ArrowRight":
      return () => move(page);
    case "Home":
      return () => move(-Infinity);
    case "End":
      return () => move(Infinity);
    case "+":
    case "=":
      return () => zoomBy(ZOOM_FACTOR);
    case "-":
      return () => zoomBy(1 / ZOOM_FACTOR);
    case "0":
      return reset;
    default:
      return null;
  }
}

/** The next index of the crosshair, within the part that is shown. */
function moved(spec: ChartSpec, zoom: Zoom | null, cursor: number | null, step: number): number | null {
  const [low, high] = zoom?.x ?? spec.x.extent;
  const first = lowerBound(spec.xs, low);
  const last = lowerBound(spec.xs, high, true) - 1;
  if (last < first) return null;
  if (!Number.isFinite(step)) return step < 0 ? first : last;
  const next = cursor === null ? (step > 0 ? first : last) : cursor + step;
  return Math.min(last, Math.max(first, next));
}

/** The position of the crosshair between 0 and 1; the middle without a crosshair. */
function share(spec: ChartSpec, zoom: Zoom | null, cursor: number | null): number {
  const [low, high] = zoom?.x ?? spec.x.extent;
  const at = cursor === null ? undefined : spec.xs[cursor];
  if (at === undefined || at < low || at > high || high <= low) return 0.5;
  if (spec.x.kind === "log") return Math.log(at / low) / Math.log(high / low);
  return (at - low) / (high - low);
}
