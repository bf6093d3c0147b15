/** A color per source line that has instructions, so that neighboring lines differ. */
import type { AssemblyBlock } from "../../lib/generated";
import { instructionsByLine } from "./mapping";

/** `.link-0` to `.link-5` in xray.css. */
export const COLORS = 6;

/** Number the colors by the order of the lines. */
export function lineColors(blocks: readonly AssemblyBlock[]): Map<number, number> {
  const lines = [...instructionsByLine(blocks).keys()].filter((line) => line > 0).sort((a, b) => a - b);
  return new Map(lines.map((line, index) => [line, index % COLORS]));
}
