/** Compare two submissions: times with confidence intervals, per case and overall, and a diff of the sources. */
import { Link } from "wouter";
import { source, submission } from "../../lib/api";
import { dateTime } from "../../lib/format";
import { timingInterval, type Interval } from "../../lib/timingText";
import { useQuery, useTitle } from "../../lib/hooks";
import type { SubmissionDetailResponse, Timing } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { ErrorMessage } from "../../components/MessagePage";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { TimeValue } from "../../components/TimeValue";
import { timingsOf } from "../submission/timings";
import { CodeDiff } from "./CodeDiff";
import { compare, comparisonText, conclusion, mean, type Comparison } from "./statistics";
import "./compare.css";

export default function Compare({ a, b }: { a: string; b: string }): React.JSX.Element {
  useTitle("Compare");
  const both = useQuery(`${a}/${b}`, () => Promise.all([submission(a), submission(b)]));
  const sources = useQuery(`source ${a}/${b}`, () => Promise.all([source(a), source(b)]));
  const error = both.error ?? sources.error;
  if (error !== null) return <ErrorMessage error={error} onRetry={both.refetch} />;
  return (
    <div className="stack">
      <div className="row">
        <h1 className="grow">Compare</h1>
        <Link className="button" href={`/compare/${b}/${a}`}>
          Swap
        </Link>
      </div>
      {both.data === null ? (
        <p className="dim">Loading…</p>
      ) : (
        <Times first={both.data[0]} second={both.data[1]} />
      )}
      {sources.data !== null && (
        <CodeDiff before={sources.data[0].solution_code} after={sources.data[1].solution_code} />
      )}
    </div>
  );
}

interface Pair {
  first: SubmissionDetailResponse;
  second: SubmissionDetailResponse;
}

function Times({ first, second }: Pair): React.JSX.Element {
  const cases = pairs(timingsOf(first.result), timingsOf(second.result));
  const obstacle = incomparableReason(first, second, cases.length);
  return (
    <>
      <div className="compare-heads">
        <Head letter="A" submission={first} />
        <Head letter="B" submission={second} />
      </div>
      {obstacle !== null ? <p className="note">{obstacle}</p> : <Cases cases={cases} sameCode={first.code_sha256 === second.code_sha256} />}
    </>
  );
}

function Head({ letter, submission: detail }: { letter: "A" | "B"; submission: SubmissionDetailResponse }): React.JSX.Element {
  return (
    <div className={`card compare-head compare-${letter.toLowerCase()}`}>
      <div className="row">
        <strong className="letter">{letter}</strong>
        <Link href={`/submissions/${detail.id}`} className="grow">
          {detail.problem}
        </Link>
        <Badge status={detail.verdict ?? detail.state} />
      </div>
      <div className="dim small">
        {detail.owner} · {detail.simulated ? `${detail.gpu_type}, simulated` : detail.gpu_type} ·{" "}
        {detail.dtype} · {dateTime(detail.created_at)}
      </div>
      <div className="compare-time">
        <TimeValue ms={detail.avg_runtime_ms} ci={detail.avg_ci} noisy={detail.noisy} />
      </div>
    </div>
  );
}

/** Why the times of two submissions cannot be compared; null if they can. */
function incomparableReason(first: SubmissionDetailResponse, second: SubmissionDetailResponse, cases: number): string | null {
  if (first.problem !== second.problem) return "The submissions are for different problems; their times cannot be compared.";
  if (first.dtype !== second.dtype) return "The submissions have different dtypes; their times cannot be compared.";
  if (first.simulated !== second.simulated || first.gpu_type !== second.gpu_type) {
    return "The submissions ran on different hardware; their times cannot be compared.";
  }
  if (cases === 0) return "One of the submissions has no times. Benchmark or submit it to compare.";
  return null;
}

/** The time of a case, with an interval that is null if unknown. */
interface CaseTime {
  runtime_ms: number;
  ci: Interval | null;
  noisy: boolean;
}

interface CasePair {
  name: string;
  a: CaseTime;
  b: CaseTime;
  comparison: Comparison | null;
}

function pairs(first: readonly Timing[], second: readonly Timing[]): CasePair[] {
  return first.flatMap((timing) => {
    const other = second.find(({ name }) => name === timing.name);
    if (other === undefined) return [];
    const [a, b] = [timeOf(timing), timeOf(other)];
    return [{ name: timing.name, a, b, comparison: compare(a, b) }];
  });
}

function timeOf(timing: Timing): CaseTime {
  return { runtime_ms: timing.runtime_ms, ci: timingInterval(timing), noisy: timing.noisy ?? false };
}

function Cases({ cases, sameCode }: { cases: readonly CasePair[]; sameCode: boolean }): React.JSX.Element {
  const [first, second] = [mean(cases.map(({ a }) => a)), mean(cases.map(({ b }) => b))];
  const total = first === null || second === null ? null : compare(first, second);
  return (
    <section className="card stack" aria-label="Times">
      <div>
        {total !== null && <h2>{conclusion(total, sameCode)}</h2>}
        <p className="dim small compare-words">
          {sameCode
            ? "A difference between the times is a difference between the two runs, not between the kernels."
            : "There is a measurable difference only if the intervals do not overlap; the factors are the smallest and the largest that the 95% intervals allow."}
        </p>
      </div>
      <div className="compare-cases">
        {cases.map(({ name, a, b, comparison }) => {
          const max = Math.max(a.ci?.[1] ?? 0, b.ci?.[1] ?? 0, a.runtime_ms, b.runtime_ms);
          return (
            <div key={name} className="compare-case">
              <h3 className="small">{name}</h3>
              <TimeBar letter="A" time={a} max={max} />
              <TimeBar letter="B" time={b} max={max} />
              {comparison !== null && !sameCode && <p className="small compare-words">{comparisonText(comparison)}</p>}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function TimeBar({ letter, time, max }: { letter: "A" | "B"; time: CaseTime; max: number }): React.JSX.Element {
  return (
    <div className="compare-line">
      <span>{letter}</span>
      <IntervalBar value={time.runtime_ms} ci={time.ci} max={max} tone={letter === "A" ? "first" : "second"} />
      <span className="number">
        <TimeValue ms={time.runtime_ms} ci={time.ci} noisy={time.noisy} stacked />
      </span>
    </div>
  );
}
