/** A submission or an X-ray that someone has shared: results, X-ray and source, read-only. */
import { Link } from "wouter";
import { ErrorMessage, MessagePage } from "../../components/MessagePage";
import { ApiError, shared } from "../../lib/api";
import { dateTime } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import { SharedResult } from "./SharedResult";

export default function Shared({ id }: { id: string }): React.JSX.Element {
  const result = useQuery(`shared ${id}`, () => shared(id));
  const viewer = useSession()?.user ?? null;
  useTitle(result.data === null ? "Shared result" : `${result.data.problem ?? "X-ray"} by ${result.data.user}`);
  if (result.error instanceof ApiError && result.error.body.code === "MADE_PRIVATE") {
    return (
      <MessagePage title="This is private">
        <p>{result.error.message}</p>
        <p className="dim">{result.error.body.hint}</p>
      </MessagePage>
    );
  }
  if (result.error !== null) return <ErrorMessage error={result.error} onRetry={result.refetch} />;
  if (result.data === null) return <p className="dim">Loading…</p>;
  const { user, own, visibility, created_at: created, submission, problem } = result.data;
  return (
    <div className="stack">
      <div className="row">
        <h1>{problem ?? "X-ray"}</h1>
        <span className="dim">
          shared by {own ? "you" : user}, {dateTime(created)}
        </span>
        {own && <span className="badge">{visibility}</span>}
        <span className="grow" />
        {own && submission !== null && (
          <Link className="button" href={`/submissions/${submission.id}`}>
            Open submission
          </Link>
        )}
        {problem !== null && viewer !== null && (
          <Link className="button" href={`/problems/${problem}`}>
            Solve this problem
          </Link>
        )}
      </div>
      <SharedResult result={result.data} />
    </div>
  );
}
