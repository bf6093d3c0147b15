/** The teams of active keys, with what each has spent today. The limits have the budget per team. */
import { ErrorMessage } from "../../components/MessagePage";
import { dollars } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import { teams } from "./requests";

const REFRESH_MS = 30_000;

export function Teams({ round }: { round: number }): React.JSX.Element {
  const { data, error, refetch } = useQuery(`teams ${round}`, teams, REFRESH_MS);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const items = data?.items ?? [];
  return (
    <section className="card stack" aria-labelledby="teams-title">
      <h2 id="teams-title">
        Teams <span className="dim small">today, UTC</span>
      </h2>
      {items.length === 0 ? (
        <p className="dim">No key belongs to a team.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Team</th>
              <th>Members</th>
              <th className="number">Spent</th>
              <th className="number">Budget</th>
            </tr>
          </thead>
          <tbody>
            {items.map((team) => (
              <tr key={team.team}>
                <th scope="row">{team.team}</th>
                <td>{team.members.join(", ")}</td>
                <td className="number">{dollars(team.spent_usd)}</td>
                <td className="number">{team.limit_usd === null ? "no limit" : dollars(team.limit_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
