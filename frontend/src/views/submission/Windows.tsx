/** How the times were measured: the windows of every timed case, and which of them were left out. */
import { plural } from "../../lib/format";
import type { Timing } from "../../lib/generated";
import { milliseconds } from "../../lib/timingText";
import { download } from "../../lib/download";
import { windowsCsv } from "./exports";

export function Windows({ id, timings }: { id: string; timings: readonly Timing[] }): React.JSX.Element | null {
  const measured = timings.filter(({ windows = [] }) => windows.length > 0);
  if (measured.length === 0) return null;
  return (
    <section className="card stack" aria-label="Windows">
      <div className="row">
        <div className="windows-heading">
          <h2>Windows</h2>
          <p className="dim small submission-remark">
            The raw measurements. A window is a number of calls between two points at which the program was stopped. Windows with few
            and with many calls alternate; the slope between the two is the time per call.
          </p>
        </div>
        <button className="button" onClick={() => download(`${id}-windows.csv`, "text/csv", windowsCsv(measured))}>
          Export windows
        </button>
      </div>
      {measured.map((timing) => (
        <CaseWindows key={timing.test_id} timing={timing} />
      ))}
    </section>
  );
}

function CaseWindows({ timing }: { timing: Timing }): React.JSX.Element {
  const { windows = [], discarded_windows: discarded = 0, self_reported_ms: selfReported = null } = timing;
  const emptyMs = Math.max(timing.overhead_ms ?? 0, ...windows.map((window) => window.empty_ms ?? 0));
  return (
    <details className="case-windows">
      <summary>
        {timing.test_id}. {timing.name}: {plural(windows.length, "window")}
        {discarded > 0 && `, ${discarded} left out`}
      </summary>
      <p className="small dim">
        {selfReported !== null && (
          <>Self-reported by the program’s HIP events: {milliseconds(selfReported)} per call; not used. </>
        )}
        A window without work takes up to {milliseconds(emptyMs)}, which is not part of the time.
      </p>
      <div className="scroll" role="region" aria-label={`Windows of case ${timing.test_id}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th className="number">Window</th>
              <th className="number">Calls</th>
              <th className="number">Time</th>
              <th className="number">Elapsed</th>
              <th className="number">CPU time</th>
              <th className="number">Waited</th>
              <th>Used</th>
            </tr>
          </thead>
          <tbody>
            {windows.map((window, index) => (
              <tr key={index} className={window.discarded === true ? "dim" : ""}>
                <td className="number">{index + 1}</td>
                <td className="number">{window.calls}</td>
                <td className="number">{milliseconds(window.time_ms)}</td>
                <td className="number">{milliseconds(window.wall_ms)}</td>
                <td className="number">{milliseconds(window.cpu_ms)}</td>
                <td className="number">{milliseconds(window.waited_ms)}</td>
                <td>{window.discarded === true ? "left out: disturbed" : "yes"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
