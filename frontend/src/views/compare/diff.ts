/** The difference of two texts, line by line: what stayed, what went, what came. No drawing here. */

export interface Row {
  kind: "same" | "changed" | "removed" | "added";
  left: Side | null;
  right: Side | null;
}

export interface Side {
  line: number;
  text: string;
}

type Step = "same" | "removed" | "added";

/** Edits that are looked for before the rest counts as rewritten: the search takes time by their square. */
const MOST_EDITS = 600;

/** Both texts in rows; lines that were changed stand beside what they became. */
export function diffRows(before: string, after: string): Row[] {
  const left = before.split("\n");
  const right = after.split("\n");
  const rows: Row[] = [];
  let removed: Side[] = [];
  let added: Side[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const gone = removed[index] ?? null;
      const come = added[index] ?? null;
      rows.push({ kind: gone && come ? "changed" : gone ? "removed" : "added", left: gone, right: come });
    }
    removed = [];
    added = [];
  };
  let i = 0;
  let j = 0;
  for (const step of steps(left, right)) {
    if (step === "removed") {
      removed.push({ line: i + 1, text: left[i] ?? "" });
      i += 1;
    } else if (step === "added") {
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

/** The shortest way from one list of lines to the other (Myers' greedy search), ends that agree cut off first. */
function steps(left: readonly string[], right: readonly string[]): Step[] {
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

function search(left: readonly string[], right: readonly string[]): Step[] {
  const most = Math.min(left.length + right.length, MOST_EDITS);
  const reached = new Map<number, number>([[1, 0]]);
  const trail: Map<number, number>[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trail.push(new Map(reached));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = furthest(reached, diagonal, edits);
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      reached.set(diagonal, x);
      if (x >= left.length && x - diagonal >= right.length)
        return backwards(trail, left.length, right.length);
    }
  }
  return [...left.map((): Step => "removed"), ...right.map((): Step => "added")];
}

/** Where this diagonal is entered: by an added line from above, or by a removed one from below. */
function furthest(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const below = reached.get(diagonal - 1) ?? -1;
  const above = reached.get(diagonal + 1) ?? -1;
  const down = diagonal === -edits || (diagonal !== edits && below < above);
  return down ? above : below + 1;
}

function backwards(trail: readonly ReadonlyMap<number, number>[], width: number, height: number): Step[] {
  const found: Step[] = [];
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
      found.push("same");
      x -= 1;
      y -= 1;
    }
    if (edits > 0) found.push(down ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return found.reverse();
}

function same(count: number): Step[] {
  return Array.from({ length: count }, (): Step => "same");
}

export interface Fold {
  kind: "fold";
  rows: Row[];
}

/** Long stretches without a change folded, with `context` rows left open on either side of a change. */
export function folded(rows: readonly Row[], context = 3): (Row | Fold)[] {
  const near = new Set<number>();
  rows.forEach((row, index) => {
    if (row.kind === "same") return;
    for (let each = index - context; each <= index + context; each += 1) near.add(each);
  });
  const found: (Row | Fold)[] = [];
  let hidden: Row[] = [];
  const flush = (): void => {
    if (hidden.length > context) found.push({ kind: "fold", rows: hidden });
    else found.push(...hidden);
    hidden = [];
  };
  rows.forEach((row, index) => {
    if (near.has(index)) {
      flush();
      found.push(row);
    } else {
      hidden.push(row);
    }
  });
  flush();
  return found;
}
