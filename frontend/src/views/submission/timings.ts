/** Return the timed cases of a verdict, or none. */
import type { StreamEvent, Timing } from "../../lib/types";

export function timingsOf(result: StreamEvent | null): Timing[] {
  if (result?.status === "ACCEPTED") return result.benchmark_results;
  if (result?.status === "BENCHMARKED") return result.test_results;
  return [];
}
