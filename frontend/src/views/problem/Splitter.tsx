/** A separator that resizes a pane: by dragging, with the arrow keys, or back to the default with a double click. */
import type { KeyboardEvent, PointerEvent } from "react";
import { DEFAULT_SIZES, LIMITS, type PaneName } from "./panes";

const KEY_STEP = 2;

interface Props {
  pane: PaneName;
  label: string;
  percent: number;
  onResize: (pane: PaneName, percent: number) => void;
}

export function Splitter({ pane, label, percent, onResize }: Props): React.JSX.Element {
  const isHorizontal = pane === "dockHeight";
  // The statement is before its splitter, the dock after it.
  const growsForward = pane === "statement";
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (box === undefined) return;
    const share = isHorizontal ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    onResize(pane, 100 * (growsForward ? share : 1 - share));
  };
  const moveByKey = (event: KeyboardEvent): void => {
    const forward = isHorizontal ? "ArrowDown" : "ArrowRight";
    const backward = isHorizontal ? "ArrowUp" : "ArrowLeft";
    if (event.key !== forward && event.key !== backward) return;
    event.preventDefault();
    const grows = (event.key === forward) === growsForward;
    onResize(pane, percent + (grows ? KEY_STEP : -KEY_STEP));
  };
  const [min, max] = LIMITS[pane];
  return (
    <div
      className={`splitter splitter-${pane}`}
      role="separator"
      aria-label={label}
      aria-orientation={isHorizontal ? "horizontal" : "vertical"}
      aria-valuenow={Math.round(percent)}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={moveByKey}
      onDoubleClick={() => onResize(pane, DEFAULT_SIZES[pane])}
    />
  );
}
