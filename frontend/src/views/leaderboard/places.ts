/** Places on a board: whoever cannot be told apart from the one before shares the place. */

export interface Timed {
  avg_runtime_ms: number;
  ci: readonly [number, number] | null;
}

export interface Placed<T> {
  entry: T;
  place: number;
  tied: boolean;
}

/**
 * Entries in order of time, with their places. An entry ties with the first of a group when its interval
 * reaches into that one's: with the first, not with its neighbour, so that a long chain is no single tie.
 */
export function places<T extends Timed>(entries: readonly T[]): Placed<T>[] {
  const sorted = [...entries].sort((a, b) => a.avg_runtime_ms - b.avg_runtime_ms);
  const groups: T[][] = [];
  for (const entry of sorted) {
    const leader = groups.at(-1)?.[0];
    if (leader && overlap(leader, entry)) groups.at(-1)?.push(entry);
    else groups.push([entry]);
  }
  let place = 1;
  return groups.flatMap((group) => {
    const shared = place;
    place += group.length;
    return group.map((entry) => ({ entry, place: shared, tied: group.length > 1 }));
  });
}

function overlap(faster: Timed, slower: Timed): boolean {
  if (faster.avg_runtime_ms === slower.avg_runtime_ms) return true;
  if (!faster.ci || !slower.ci) return false;
  return slower.ci[0] <= faster.ci[1];
}
