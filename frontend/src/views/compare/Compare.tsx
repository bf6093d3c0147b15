/** Compare two submissions: speed with confidence intervals, per case and overall, and a diff of the sources. */
import { Link } from "wouter";
import { source, submission } from "../../lib/api";
import { dateTime, runtime, significant } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { SubmissionDetailResponse, Timing } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { ErrorMessage } from "../../components/MessagePage";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { timingsOf } from "../submission/timings";
import { CodeDiff } from "./CodeDiff";
import { compare, comparisonText, overall, type Comparison } from "./statistics";
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
      {obstacle !== null ? <p className="note">{obstacle}</p> : <Cases cases={cases} />}
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
      <div className="compare-time">{runtime(detail.avg_runtime_ms)}</div>
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

interface CasePair {
  name: string;
  a: Timing;
  b: Timing;
  comparison: Comparison | null;
}

function pairs(first: readonly Timing[], second: readonly Timing[]): CasePair[] {
  return first.flatMap((a) => {
    const b = second.find(({ name }) => name === a.name);
    return b === undefined ? [] : [{ name: a.name, a, b, comparison: compare(a, b) }];
  });
}

function Cases({ cases }: { cases: readonly CasePair[] }): React.JSX.Element {
  const total = overall(cases.flatMap(({ comparison }) => comparison ?? []));
  return (
    <section className="card stack" aria-label="Times">
      {total !== null && (
        <h2>
          {total.faster === "even"
            ? "Overall: "
            : `Overall, ${total.faster === "first" ? "A" : "B"} is `}
          {comparisonText(total)} <span className="dim small">95% interval of time A / time B: {interval(total)}</span>
        </h2>
      )}
      <div className="compare-cases">
        {cases.map(({ name, a, b, comparison }) => {
          const max = Math.max(a.ci[1], b.ci[1], a.runtime_ms, b.runtime_ms);
          return (
            <div key={name} className="compare-case">
              <h3 className="small">{name}</h3>
              <TimeBar letter="A" timing={a} max={max} />
              <TimeBar letter="B" timing={b} max={max} />
              {comparison !== null && (
                <p className="small compare-words">
                  {comparison.faster !== "even" && (
                    <strong>{comparison.faster === "first" ? "A is " : "B is "}</strong>
                  )}
                  {comparisonText(comparison)} <span className="dim">({interval(comparison)})</span>
                </p>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function TimeBar({
  letter,
  timing,
  max,
}: {
  letter: "A" | "B";
  timing: Timing;
  max: number;
}): React.JSX.Element {
  return (
    <div className="compare-line">
      <span>{letter}</span>
      <IntervalBar
        value={timing.runtime_ms}
        ci={timing.ci}
        max={max}
        tone={letter === "A" ? "first" : "second"}
      />
      <span className="number">{runtime(timing.runtime_ms)}</span>
    </div>
  );
}

function interval({ low, high }: Comparison): string {
  return `${significant(low)} to ${significant(high)}`;
}
