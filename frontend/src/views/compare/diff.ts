/** A line diff of two texts. Pure functions. */

export interface Row {
  kind: "same" | "changed" | "removed" | "added";
  left: Side | null;
  right: Side | null;
}

export interface Side {
  line: number;
  text: string;
}

type Edit = "same" | "removed" | "added";

/** The limit of the edit distance, since the search is quadratic in it; beyond it, everything counts as rewritten. */
const MAX_EDITS = 600;

/** Align both texts in rows; changed lines are next to their replacement. */
export function diffRows(before: string, after: string): Row[] {
  const left = before.split("\n");
  const right = after.split("\n");
  const rows: Row[] = [];
  let removed: Side[] = [];
  let added: Side[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const before = removed[index] ?? null;
      const after = added[index] ?? null;
      rows.push({ kind: before && after ? "changed" : before ? "removed" : "added", left: before, right: after });
    }
    removed = [];
    added = [];
  };
  let i = 0;
  let j = 0;
  for (const edit of editScript(left, right)) {
    if (edit === "removed") {
      removed.push({ line: i + 1, text: left[i] ?? "" });
      i += 1;
    } else if (edit === "added") {
      added.push({ line: j + 1, text: right[j] ?? "" });
      j += 1;
    } else {
      flush();
      rows.push({
        kind: "same",
        left: { line: i + 1, text: left[i] ?? "" },
        right: { line: j + 1, text: right[j] ?? "" },
      });
      i += 1;
      j += 1;
    }
  }
  flush();
  return rows;
}

/** The shortest edit script (Myers' greedy algorithm), after removing the common prefix and suffix. */
function editScript(left: readonly string[], right: readonly string[]): Edit[] {
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head += 1;
  let tail = 0;
  while (
    tail < left.length - head &&
    tail < right.length - head &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  ) {
    tail += 1;
  }
  const middle = search(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  return [...same(head), ...middle, ...same(tail)];
}

function search(left: readonly string[], right: readonly string[]): Edit[] {
  const limit = Math.min(left.length + right.length, MAX_EDITS);
  const reached = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trail.push(new Map(reached));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = furthest(reached, diagonal, edits);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      reached.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length)
        return backtrack(trail, left.length, right.length);
    }
  }
  return [...left.map((): Edit => "removed"), ...right.map((): Edit => "added")];
}

/** The start on this diagonal: after an added line (from the diagonal above) or a removed one (from below). */
function furthest(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const below = reached.get(diagonal - 1) ?? -1;
  const above = reached.get(diagonal + 1) ?? -1;
  const down = diagonal === -edits || (diagonal !== edits && below < above);
  return down ? above : below + 1;
}

function backtrack(trail: readonly ReadonlyMap<number, number>[], width: number, height: number): Edit[] {
  const script: Edit[] = [];
  let x = width;
  let y = height;
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const reached = trail[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const below = reached.get(diagonal - 1) ?? -1;
    const above = reached.get(diagonal + 1) ?? -1;
    const down = diagonal === -edits || (diagonal !== edits && below < above);
    const fromX = edits === 0 ? 0 : down ? above : below;
    const fromY = edits === 0 ? 0 : fromX - (down ? diagonal + 1 : diagonal - 1);
    const enteredX = edits === 0 ? 0 : down ? fromX : fromX + 1;
    while (x > enteredX) {
      script.push("same");
      x -= 1;
      y -= 1;
    }
    if (edits > 0) script.push(down ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return script.reverse();
}

function same(count: number): Edit[] {
  return Array.from({ length: count }, (): Edit => "same");
}

export interface Fold {
  kind: "fold";
  rows: Row[];
}

/** Fold long unchanged stretches, keeping `context` rows on either side of a change. */
export function foldUnchanged(rows: readonly Row[], context = 3): (Row | Fold)[] {
  const near = new Set<number>();
  rows.forEach((row, index) => {
    if (row.kind === "same") return;
    for (let nearby = index - context; nearby <= index + context; nearby += 1) near.add(nearby);
  });
  const result: (Row | Fold)[] = [];
  let hidden: Row[] = [];
  const flush = (): void => {
    if (hidden.length > context) result.push({ kind: "fold", rows: hidden });
    else result.push(...hidden);
    hidden = [];
  };
  rows.forEach((row, index) => {
    if (near.has(index)) {
      flush();
      result.push(row);
    } else {
      hidden.push(row);
    }
  });
  flush();
  return result;
}
