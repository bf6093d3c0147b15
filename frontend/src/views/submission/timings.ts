/** Return the timed cases of a verdict, or none. */
import type { SubmissionEvent, Timing } from "../../lib/generated";

export function timingsOf(result: SubmissionEvent | null): Timing[] {
  if (result?.status === "ACCEPTED") return result.benchmark_results;
  if (result?.status === "BENCHMARKED") return result.test_results;
  return [];
}
