/** The median of a time and its interval, as series of the charts of samples. */
import type { Box, Series } from "./chartSpec";

export function intervalSeries(box: Box, values: readonly null[]): Series {
  return { name: "95% interval", color: "color-mix(in srgb, var(--info) 26%, transparent)", mark: { kind: "boxes", boxes: [box], minWidthPx: 1 }, values };
}

export function medianSeries(box: Box, values: readonly null[]): Series {
  return { name: "Median", color: "var(--text)", mark: { kind: "boxes", boxes: [box] }, values };
}
