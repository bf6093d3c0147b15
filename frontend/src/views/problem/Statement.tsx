/** The statement of a problem: text, signature and cases. */
import { Link } from "wouter";
import { plural } from "../../lib/format";
import type { Dtype, ProblemDetailResponse } from "../../lib/generated";
import { DifficultyBadge } from "../../components/Badge";
import { Markdown } from "../../components/Markdown";
import { Tour } from "./Tour";

export function Statement({ problem: detail, dtype }: { problem: ProblemDetailResponse; dtype: Dtype }): React.JSX.Element {
  const cases = detail.cases.cpu ?? Object.values(detail.cases)[0] ?? [];
  return (
    <section className="card statement" aria-label="Statement" data-tour="statement" tabIndex={0}>
      <Tour />
      <div className="row title">
        <h1 className="grow">{detail.title}</h1>
        <DifficultyBadge difficulty={detail.difficulty} />
        {detail.solved && <span className="badge good">✓ Solved</span>}
      </div>
      <Markdown source={detail.statement} />
      <h2>Signature</h2>
      <pre>{detail.declarations[dtype] ?? detail.declaration}</pre>
      <p className="small dim">
        All pointers point to device memory. Outputs are not initialized to zero. Write a kernel, launch it from{" "}
        <code>solution</code>, then press Run.
      </p>
      <details>
        <summary>{plural(cases.length, "case")}</summary>
        <ul className="small">
          {cases.map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </details>
      <p className="small">
        <Link href={`/leaderboard/${detail.slug}`}>Leaderboard</Link> ·{" "}
        <Link href={`/submissions?problem=${detail.slug}`}>Your submissions</Link>
      </p>
    </section>
  );
}
