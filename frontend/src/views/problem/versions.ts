/** The versions of the code that were run: submissions of the same code and dtype are one version. Pure functions. */
import type { SubmissionResponse } from "../../lib/generated";

export interface Version {
  /** Of the code and the dtype. */
  key: string;
  /** Newest first; never empty. */
  submissions: [SubmissionResponse, ...SubmissionResponse[]];
}

/** Group submissions, newest first, into versions in the order of their newest submission. */
export function versions(submissions: readonly SubmissionResponse[]): Version[] {
  const byKey = new Map<string, Version>();
  for (const submission of submissions) {
    const key = `${submission.code_sha256} ${submission.dtype}`;
    const version = byKey.get(key);
    if (version === undefined) byKey.set(key, { key, submissions: [submission] });
    else version.submissions.push(submission);
  }
  return [...byKey.values()];
}

/** The submission that represents a version in a comparison: the newest with a time, otherwise the newest. */
export function representative(version: Version): SubmissionResponse {
  return version.submissions.find(({ avg_runtime_ms: ms }) => ms !== null) ?? version.submissions[0];
}

/** The address of a comparison, with the older submission on the left. */
export function comparisonPath(a: SubmissionResponse, b: SubmissionResponse): string {
  const [older, newer] = Date.parse(a.created_at) <= Date.parse(b.created_at) ? [a, b] : [b, a];
  return `/compare/${older.id}/${newer.id}`;
}
