/** Map source lines to instructions. */
import type { AssemblyBlock } from "../../lib/generated";

/** One displayed row of the assembly. */
export interface AssemblyRow {
  text: string;
  line: number | null;
  depth: number;
  isLabel: boolean;
}

/** Convert blocks to rows; a branch target gets its own row. */
export function assemblyRows(blocks: readonly AssemblyBlock[]): AssemblyRow[] {
  return blocks.flatMap((block) => [
    ...(block.label === null
      ? []
      : [{ text: `.L${block.label}:`, line: block.line, depth: block.depth, isLabel: true }]),
    ...block.instructions.map((text) => ({ text, line: block.line, depth: block.depth, isLabel: false })),
  ]);
}

/** Count the instructions of each source line. */
export function instructionsByLine(blocks: readonly AssemblyBlock[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { line, instructions } of blocks) {
    if (line !== null) counts.set(line, (counts.get(line) ?? 0) + instructions.length);
  }
  return counts;
}

/** Return the next line with instructions, downwards or upwards; at the end, the same line. */
export function nextLine(lines: readonly number[], from: number | null, direction: 1 | -1): number | null {
  const sorted = [...lines].sort((a, b) => a - b);
  if (from === null) return (direction === 1 ? sorted[0] : sorted.at(-1)) ?? null;
  const next = direction === 1 ? sorted.find((line) => line > from) : sorted.findLast((line) => line < from);
  return next ?? from;
}

/** Sort an instruction mix by frequency, with the share of each kind. */
export function mix(
  counts: Readonly<Record<string, number>>,
): { kind: string; count: number; share: number }[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => ({ kind, count, share: count / total }));
}
