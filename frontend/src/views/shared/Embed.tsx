/** A shared result inside a page of another site: read-only, without session, key or navigation. */
import type { SharedResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { SharedResult } from "./SharedResult";
import "../../components/account.css";

/** Fetch it as a stranger: another site must not show what only this browser's user may see. */
async function fetchShared(id: string): Promise<SharedResponse> {
  const response = await fetch(`/api/amd/shared/${id}`, { credentials: "omit", cache: "no-store" }).catch(() => {
    throw new Error("The service is unreachable.");
  });
  if (response.ok) {
    const result = (await response.json()) as SharedResponse | null;
    if (result === null) throw new Error("The service returned an empty response.");
    return result;
  }
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  throw new Error(problem?.detail ?? `The service returned ${response.status}.`);
}

export default function Embed({ id }: { id: string }): React.JSX.Element {
  const result = useQuery(`embed ${id}`, () => fetchShared(id));
  useTitle("Shared result");
  const link = (
    <a href={`/s/${id}`} target="_blank" rel="noopener noreferrer">
      Open in Warmfront
    </a>
  );
  if (result.error !== null) {
    return (
      <main className="stack embed">
        <h1>Not available</h1>
        <p role="alert">{result.error.message}</p>
      </main>
    );
  }
  if (result.data === null) return <p className="dim">Loading…</p>;
  return (
    <main className="stack embed">
      <div className="row">
        <h1>{result.data.problem ?? "X-ray"}</h1>
        <span className="dim">by {result.data.user}</span>
        <span className="grow" />
        {link}
      </div>
      <SharedResult result={result.data} />
    </main>
  );
}
