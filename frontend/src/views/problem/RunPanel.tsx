/** A run: its state as a headline, whether its code is still the one in the editor, the timeline, and the verdict. */
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { useNow } from "../../lib/hooks";
import { isFailure } from "../../lib/submissionProgress";
import { Timeline } from "./Timeline";
import type { RunState } from "./useRun";
import { VerdictDetails } from "./VerdictDetails";
import { headline } from "./runText";

interface Props {
  running: RunState;
  slug: string;
  /** The code in the editor. */
  code: string;
  onLine: (line: number) => void;
  onRestore: (code: string) => void;
  /** Check all cases of the code in the editor, also after a wrong answer. */
  onRunAll?: () => void;
}

export function RunPanel({ running, slug, code, onLine, onRestore, onRunAll }: Props): React.JSX.Element | null {
  const { run, progress, busy, live } = running;
  const section = useRef<HTMLElement>(null);
  const nowMs = useNow(busy);
  const key = run?.key;
  useEffect(() => {
    // The run was just started: scroll to it.
    if (live && key !== undefined) section.current?.scrollIntoView({ block: "nearest" });
  }, [live, key]);
  if (progress === null || run === null) return null;
  const { verdict } = progress;
  const isStale = run.request.solution_code !== code;
  const tone = isStale || verdict === null ? "" : isFailure(verdict) ? "bad" : "good";
  return (
    <section className={`run-panel stack ${tone}`} aria-labelledby="run-title" ref={section} data-stale={isStale}>
      <div className="row run-head">
        <h2 id="run-title" role="status" data-testid="run-status" data-status={verdict?.status ?? "RUNNING"}>
          {headline(progress)}
        </h2>
        <span className="row">
          {verdict?.status === "ACCEPTED" && <Link href={`/leaderboard/${slug}`}>Leaderboard</Link>}
          {run.id !== null && <Link href={`/submissions/${run.id}`}>Details</Link>}
        </span>
      </div>
      {isStale && (
        <div className="note warn row small stale">
          <span className="grow">
            <strong>Stale:</strong> {verdict === null ? "this run is" : "this verdict is"} for older code than that in the editor.
          </span>
          <button className="button small" onClick={() => onRestore(run.request.solution_code)}>
            Restore that code
          </button>
        </div>
      )}
      {onRunAll !== undefined && verdict?.status === "WRONG_ANSWER" && progress.tests.length < progress.totalTests && (
        <div className="note row small">
          <span className="grow">
            The run ended with case {progress.tests.length} of {progress.totalTests}, the first wrong answer.
          </span>
          <button className="button small" onClick={onRunAll}>
            Run all cases
          </button>
        </div>
      )}
      {verdict !== null && <VerdictDetails verdict={verdict} toolchain={progress.toolchain} onLine={onLine} />}
      <Timeline progress={progress} nowMs={nowMs} failures={running.failures} live={live} />
    </section>
  );
}
