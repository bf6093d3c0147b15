/** A run: its state as a headline, the timeline, and the details of the verdict. */
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
  onLine: (line: number) => void;
}

export function RunPanel({ running, slug, onLine }: Props): React.JSX.Element | null {
  const { run, progress, busy, live } = running;
  const section = useRef<HTMLElement>(null);
  const nowMs = useNow(busy);
  const key = run?.key;
  useEffect(() => {
    // The run was just started: scroll to it.
    if (live && key !== undefined) section.current?.scrollIntoView({ block: "nearest" });
  }, [live, key]);
  if (progress === null) return null;
  const { verdict } = progress;
  const tone = verdict === null ? "" : isFailure(verdict) ? "bad" : "good";
  const id = run?.id ?? null;
  return (
    <section className={`card run-panel stack ${tone}`} aria-labelledby="run-title" ref={section}>
      <div className="row">
        <h2 id="run-title" className="grow" role="status" data-testid="run-status" data-status={verdict?.status ?? "RUNNING"}>
          {headline(progress)}
        </h2>
        {verdict?.status === "ACCEPTED" && <Link href={`/leaderboard/${slug}`}>Leaderboard</Link>}
        {id !== null && <Link href={`/submissions/${id}`}>Details</Link>}
      </div>
      <Timeline progress={progress} nowMs={nowMs} failures={running.failures} live={live} />
      {verdict !== null && <VerdictDetails verdict={verdict} toolchain={progress.toolchain} onLine={onLine} />}
    </section>
  );
}
