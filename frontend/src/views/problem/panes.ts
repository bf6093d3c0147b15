/** Sizes of the workspace's panes, in percent of the workspace, as stored in this browser. Pure functions. */

export interface PaneSizes {
  /** Width of the statement. */
  statement: number;
  /** Width of the dock, if it is beside the editor. */
  dock: number;
  /** Height of the dock, if it is below the editor. */
  dockHeight: number;
}

export type PaneName = keyof PaneSizes;

export const DEFAULT_SIZES: PaneSizes = { statement: 22, dock: 32, dockHeight: 42 };

/** Smallest and largest size of each pane. Both widths together leave the editor at least a quarter. */
export const LIMITS: Record<PaneName, readonly [number, number]> = {
  statement: [12, 40],
  dock: [18, 60],
  dockHeight: [12, 75],
};
const MAX_WIDTHS = 75;

/** Change one size within its limits, and within the space that the other pane leaves. */
export function resize(sizes: PaneSizes, pane: PaneName, percent: number): PaneSizes {
  const [min, max] = LIMITS[pane];
  const other = pane === "statement" ? sizes.dock : pane === "dock" ? sizes.statement : 0;
  const most = pane === "dockHeight" ? max : Math.min(max, MAX_WIDTHS - other);
  return { ...sizes, [pane]: Math.round(10 * Math.min(most, Math.max(min, percent))) / 10 };
}

/** Parse stored sizes; a size that is missing or out of range gets its default. */
export function parseSizes(text: string | null): PaneSizes {
  let stored: Partial<Record<PaneName, unknown>> = {};
  try {
    stored = (JSON.parse(text ?? "{}") ?? {}) as typeof stored;
  } catch {
    return DEFAULT_SIZES;
  }
  return (Object.keys(DEFAULT_SIZES) as PaneName[]).reduce<PaneSizes>((sizes, pane) => {
    const value = stored[pane];
    return typeof value === "number" && Number.isFinite(value) ? resize(sizes, pane, value) : sizes;
  }, DEFAULT_SIZES);
}
