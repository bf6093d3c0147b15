/** Two submissions beside each other: which is faster and how sure that is, case by case, and what differs in the code. */
import { Link } from "wouter";
import { code, submission } from "../../lib/api";
import { moment, runtime, significant } from "../../lib/format";
import { useQuery, useTitle } from "../../lib/hooks";
import type { SubmissionDetail, Timing } from "../../lib/types";
import { Badge } from "../../parts/Badge";
import { Failure } from "../../parts/Helping";
import { IntervalBar } from "../../parts/figures/IntervalBar";
import { timingsOf } from "../submission/timings";
import { CodeDiff } from "./CodeDiff";
import { compare, inWords, overall, type Comparison } from "./statistics";
import "./compare.css";

export default function Compare({ a, b }: { a: string; b: string }): React.JSX.Element {
  useTitle("Compare");
  const both = useQuery(`${a}/${b}`, () => Promise.all([submission(a), submission(b)]));
  const codes = useQuery(`code ${a}/${b}`, () => Promise.all([code(a), code(b)]));
  const error = both.error ?? codes.error;
  if (error !== null) return <Failure error={error} onRetry={both.again} />;
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
      {codes.data !== null && (
        <CodeDiff before={codes.data[0].solution_code} after={codes.data[1].solution_code} />
      )}
    </div>
  );
}

interface Pair {
  first: SubmissionDetail;
  second: SubmissionDetail;
}

function Times({ first, second }: Pair): React.JSX.Element {
  const cases = pairs(timingsOf(first.result), timingsOf(second.result));
  const obstacle = whyNot(first, second, cases.length);
  return (
    <>
      <div className="compare-heads">
        <Head letter="A" each={first} />
        <Head letter="B" each={second} />
      </div>
      {obstacle !== null ? <p className="note">{obstacle}</p> : <Cases cases={cases} />}
    </>
  );
}

function Head({ letter, each }: { letter: "A" | "B"; each: SubmissionDetail }): React.JSX.Element {
  return (
    <div className={`card compare-head compare-${letter.toLowerCase()}`}>
      <div className="row">
        <strong className="letter">{letter}</strong>
        <Link href={`/submissions/${each.id}`} className="grow">
          {each.problem}
        </Link>
        <Badge status={each.verdict ?? each.state} />
      </div>
      <div className="dim small">
        {each.owner} · {each.simulated ? `${each.gpu_type}, simulated on a CPU` : each.gpu_type} ·{" "}
        {each.dtype} · {moment(each.created_at)}
      </div>
      <div className="compare-time">{runtime(each.avg_runtime_ms)}</div>
    </div>
  );
}

/** Why two times may not be set against each other; null where they may. */
function whyNot(first: SubmissionDetail, second: SubmissionDetail, cases: number): string | null {
  if (first.problem !== second.problem) return "These are two problems: their times cannot be compared.";
  if (first.dtype !== second.dtype) return "These have different types: their times cannot be compared.";
  if (first.simulated !== second.simulated || first.gpu_type !== second.gpu_type) {
    return "These ran on different machines: their times cannot be compared.";
  }
  if (cases === 0) return "One of them has no times. Benchmark or submit it to compare them.";
  return null;
}

interface Case {
  name: string;
  a: Timing;
  b: Timing;
  comparison: Comparison | null;
}

function pairs(first: readonly Timing[], second: readonly Timing[]): Case[] {
  return first.flatMap((a) => {
    const b = second.find((each) => each.name === a.name);
    return b === undefined ? [] : [{ name: a.name, a, b, comparison: compare(a, b) }];
  });
}

function Cases({ cases }: { cases: readonly Case[] }): React.JSX.Element {
  const all = overall(cases.flatMap((each) => each.comparison ?? []));
  return (
    <section className="card stack" aria-label="Times">
      {all !== null && (
        <h2>
          {all.faster === "even"
            ? "Over all cases: "
            : `Over all cases ${all.faster === "first" ? "A" : "B"} is `}
          {inWords(all)} <span className="dim small">95% interval of A’s time over B’s: {interval(all)}</span>
        </h2>
      )}
      <div className="compare-cases">
        {cases.map(({ name, a, b, comparison }) => {
          const most = Math.max(a.ci[1], b.ci[1], a.runtime_ms, b.runtime_ms);
          return (
            <div key={name} className="compare-case">
              <h3 className="small">{name}</h3>
              <Line letter="A" timing={a} most={most} />
              <Line letter="B" timing={b} most={most} />
              {comparison !== null && (
                <p className="small compare-words">
                  {comparison.faster !== "even" && (
                    <strong>{comparison.faster === "first" ? "A " : "B "}</strong>
                  )}
                  {inWords(comparison)} <span className="dim">({interval(comparison)})</span>
                </p>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}

function Line({
  letter,
  timing,
  most,
}: {
  letter: "A" | "B";
  timing: Timing;
  most: number;
}): React.JSX.Element {
  return (
    <div className="compare-line">
      <span>{letter}</span>
      <IntervalBar
        value={timing.runtime_ms}
        ci={timing.ci}
        most={most}
        tone={letter === "A" ? "first" : "second"}
      />
      <span className="number">{runtime(timing.runtime_ms)}</span>
    </div>
  );
}

function interval({ low, high }: Comparison): string {
  return `${significant(low)} to ${significant(high)}`;
}
