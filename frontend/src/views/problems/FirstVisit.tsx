/** What this page is for, and where to begin. Shown until the user solves a problem or closes it permanently. */
import { Link } from "wouter";
import { useStored } from "../../lib/hooks";
import type { ProblemResponse } from "../../lib/generated";
import { firstProblem } from "./filter";

export function FirstVisit({ problems }: { problems: readonly ProblemResponse[] }): React.JSX.Element | null {
  const [state, setState] = useStored("warmfront.welcome", "");
  const first = firstProblem(problems);
  if (state !== "" || first === undefined || problems.some((problem) => problem.solved)) return null;
  return (
    <section className="card first-visit" aria-label="First visit">
      <p>
        Write a HIP kernel in the browser. See whether it is correct, what is wrong if it is not, and how fast it is on an AMD GPU.
      </p>
      <ul className="small">
        <li>
          <strong>Run</strong> checks the results.
        </li>
        <li>
          <strong>Benchmark</strong> also measures the time.
        </li>
        <li>
          <strong>Submit</strong> also enters the result on the leaderboard.
        </li>
      </ul>
      <div className="row">
        <Link className="button primary" href={`/problems/${first.slug}`}>
          Solve your first kernel
        </Link>
        <button className="button plain" onClick={() => setState("closed")}>
          Do not show again
        </button>
      </div>
    </section>
  );
}
