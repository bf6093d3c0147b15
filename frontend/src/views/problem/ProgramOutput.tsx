/** What the program printed: open under the case that failed, collapsed for the others. */
import type { VerdictEvent } from "../../lib/submissionProgress";
import { outputsByCase } from "./outputsByCase";

export function ProgramOutput({ verdict }: { verdict: VerdictEvent }): React.JSX.Element | null {
  const outputs = outputsByCase(verdict);
  if (outputs.length === 0) return null;
  return (
    <div>
      <h3>Output</h3>
      {outputs.map(({ name, text, failed }) =>
        name === "" ? (
          <pre key={name} className="program-output" tabIndex={0}>
            {text}
          </pre>
        ) : (
          <details key={name} className="case-output" open={failed || outputs.length === 1}>
            <summary>
              {name} {failed && <span className="badge bad">failed</span>}
            </summary>
            <pre className="program-output" tabIndex={0}>
              {text}
            </pre>
          </details>
        ),
      )}
    </div>
  );
}
