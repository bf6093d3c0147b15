/** A run: its state as a headline, the timeline, and below it the verdict's reasons. */
import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { useNow } from "../../lib/hooks";
import { isFailure } from "../../lib/story";
import { Timeline } from "./Timeline";
import type { Running } from "./useRun";
import { Verdict } from "./Verdict";
import { headline } from "./words";

interface Props {
  running: Running;
  slug: string;
  onLine: (line: number) => void;
}

export function Outcome({ running, slug, onLine }: Props): React.JSX.Element | null {
  const { run, story, busy, live } = running;
  const section = useRef<HTMLElement>(null);
  const nowMs = useNow(busy);
  const key = run?.key;
  useEffect(() => {
    // It was started just now: show where it is to be seen.
    if (live && key !== undefined) section.current?.scrollIntoView({ block: "nearest" });
  }, [live, key]);
  if (story === null) return null;
  const { ending } = story;
  const tone = ending === null ? "" : isFailure(ending) ? "bad" : "good";
  const id = run?.id ?? null;
  return (
    <section className={`card outcome stack ${tone}`} aria-labelledby="outcome-title" ref={section}>
      <div className="row">
        <h2 id="outcome-title" className="grow" role="status" data-testid="outcome" data-status={ending?.status ?? "RUNNING"}>
          {headline(story)}
        </h2>
        {ending?.status === "ACCEPTED" && <Link href={`/leaderboard/${slug}`}>Leaderboard</Link>}
        {id !== null && <Link href={`/submissions/${id}`}>The whole story</Link>}
      </div>
      <Timeline story={story} nowMs={nowMs} cuts={running.cuts} live={live} />
      {ending !== null && <Verdict ending={ending} onLine={onLine} />}
    </section>
  );
}
