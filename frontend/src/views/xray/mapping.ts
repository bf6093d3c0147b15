/** Source and assembly beside each other: which lines belong to which instructions. */

export interface Piece {
  line: number | null;
  depth: number;
  label: string | null;
  instructions: readonly string[];
}

/** One row of the assembly as it is shown. */
export interface Row {
  text: string;
  line: number | null;
  depth: number;
  isLabel: boolean;
}

/** Pieces as rows: a branch's target stands on a row of its own. */
export function rows(pieces: readonly Piece[]): Row[] {
  return pieces.flatMap((piece) => [
    ...(piece.label === null
      ? []
      : [{ text: `.L${piece.label}:`, line: piece.line, depth: piece.depth, isLabel: true }]),
    ...piece.instructions.map((text) => ({ text, line: piece.line, depth: piece.depth, isLabel: false })),
  ]);
}

/** How many instructions each source line became. */
export function instructionsByLine(pieces: readonly Piece[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { line, instructions } of pieces) {
    if (line !== null) counts.set(line, (counts.get(line) ?? 0) + instructions.length);
  }
  return counts;
}

/** The next line with code from here, downwards or upwards, for those who walk by keys. */
export function neighbour(lines: readonly number[], from: number | null, direction: 1 | -1): number | null {
  const sorted = [...lines].sort((a, b) => a - b);
  if (from === null) return (direction === 1 ? sorted[0] : sorted.at(-1)) ?? null;
  const ahead = direction === 1 ? sorted.find((line) => line > from) : sorted.findLast((line) => line < from);
  return ahead ?? from;
}

/** The kinds of an instruction mix, the most frequent first, with their shares. */
export function mix(
  counts: Readonly<Record<string, number>>,
): { kind: string; count: number; share: number }[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => ({ kind, count, share: count / total }));
}
