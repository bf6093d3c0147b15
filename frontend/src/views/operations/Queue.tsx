/** The queued submissions, in approximate order of service. */
import { Link } from "wouter";
import { plural, span } from "../../lib/format";
import type { OperationsResponse } from "../../lib/generated";

export function Queue({ data, now }: { data: OperationsResponse; now: number }): React.JSX.Element {
  const { items, length } = data.queue;
  return (
    <section className="card stack" aria-labelledby="queue-title">
      <h2 id="queue-title">Queue</h2>
      {items.length === 0 ? (
        <p className="dim no-gap">{length === 0 ? "Queue is empty." : `${plural(length, "submission")} about to start.`}</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Submissions in the queue">
          <table>
            <thead>
              <tr>
                <th className="number">Ahead</th>
                <th>Submission</th>
                <th>User</th>
                <th className="number">Waiting</th>
              </tr>
            </thead>
            <tbody>
              {items.map((item) => (
                <tr key={item.position}>
                  <td className="number">{item.position}</td>
                  <td>
                    {item.submission_id === null ? (
                      <span className="dim">another user</span>
                    ) : (
                      <Link href={`/submissions/${item.submission_id}`}>
                        {item.problem}, {item.endpoint}
                      </Link>
                    )}
                  </td>
                  <td>{item.user ?? <span className="dim">–</span>}</td>
                  <td className="number">{span((now - Date.parse(item.since)) / 1000)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {length > items.length && <p className="dim small no-gap">and {plural(length - items.length, "more", "more")}</p>}
        </div>
      )}
    </section>
  );
}
