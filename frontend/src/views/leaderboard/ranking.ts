/** Rank leaderboard entries; entries whose times do not differ significantly share a rank. */

export interface TimedEntry {
  avg_runtime_ms: number;
  ci: readonly [number, number] | null;
}

export interface Ranked<T> {
  entry: T;
  rank: number;
  tied: boolean;
}

/**
 * Sort entries by time and assign ranks. An entry ties with the first entry of a group if their intervals
 * overlap: with the first, not with its neighbour, so that a long chain is not one tie.
 */
export function rank<T extends TimedEntry>(entries: readonly T[]): Ranked<T>[] {
  const sorted = [...entries].sort((a, b) => a.avg_runtime_ms - b.avg_runtime_ms);
  const groups: T[][] = [];
  for (const entry of sorted) {
    const leader = groups.at(-1)?.[0];
    if (leader && overlap(leader, entry)) groups.at(-1)?.push(entry);
    else groups.push([entry]);
  }
  let next = 1;
  return groups.flatMap((group) => {
    const shared = next;
    next += group.length;
    return group.map((entry) => ({ entry, rank: shared, tied: group.length > 1 }));
  });
}

function overlap(faster: TimedEntry, slower: TimedEntry): boolean {
  if (faster.avg_runtime_ms === slower.avg_runtime_ms) return true;
  if (!faster.ci || !slower.ci) return false;
  return slower.ci[0] <= faster.ci[1];
}
