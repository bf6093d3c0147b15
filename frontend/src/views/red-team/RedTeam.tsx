/** The red-team board: the families of attacks on the judge, and how many it caught. */
import { Badge } from "../../components/Badge";
import { useTitle } from "../../lib/hooks";
import data from "./board.json";
import { caughtText, timeText, type Board, type Family } from "./redTeamText";
import "./red-team.css";

const BOARD: Board = data;

export default function RedTeam(): React.JSX.Element {
  useTitle("Red-team board");
  return (
    <div className="stack">
      <h1>Red-team board</h1>
      <p className="red-team-summary">
        <strong>{caughtText(BOARD.caught, BOARD.attacks)}</strong> attacks caught;{" "}
        <strong>{caughtText(BOARD.controls_passed, BOARD.controls)}</strong> honest controls pass, in bubblewrap and in
        Docker.
      </p>
      <p className="dim">
        All known ways to get a wrong verdict or a wrong time from the judge. An attack that computes correctly but claims
        a shorter time is accepted with its true time: at least 0.9 of the time of an honest twin that does the same work.
      </p>
      {BOARD.families.map((family) => (
        <FamilyCard key={family.name} family={family} />
      ))}
    </div>
  );
}

function FamilyCard({ family }: { family: Family }): React.JSX.Element {
  const all = family.caught === family.attacks.length;
  return (
    <details className="card red-team-family">
      <summary>
        <h2>{family.name.replaceAll("-", " ")}</h2>
        <span className="grow">{family.tries}</span>
        <span className={`badge ${all ? "good" : "bad"}`}>{caughtText(family.caught, family.attacks.length)}</span>
      </summary>
      <p className="dim small">First seen: {family.first_seen.join("; ")}.</p>
      <div className="scroll" tabIndex={0} role="region" aria-label={`Attacks: ${family.name}`}>
        <table>
          <thead>
            <tr>
              <th>Attack</th>
              <th>What it does</th>
              <th>Verdict</th>
              <th className="wide-only">Control</th>
            </tr>
          </thead>
          <tbody>
            {family.attacks.map((attack) => (
              <tr key={attack.name}>
                <td>
                  <code>{attack.name}</code>
                </td>
                <td className="red-team-what">{attack.summary}</td>
                <td>
                  {attack.verdicts.map((verdict) => (
                    <Badge key={verdict} status={verdict} />
                  ))}
                  <span className="dim small"> {timeText(attack)}</span>
                  {!attack.caught && <strong> Not caught.</strong>}
                </td>
                <td className="wide-only">
                  <code>{attack.control}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
