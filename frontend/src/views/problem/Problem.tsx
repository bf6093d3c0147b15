/** One problem: the statement and the X-ray on one side, the editor and the run on the other. */
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { gpus, problem } from "../../lib/api";
import { lazyImport } from "../../lib/lazyImport";
import { plural, statusText } from "../../lib/format";
import { useQuery, useStored, useTitle } from "../../lib/hooks";
import type { Dtype, GpuResponse, ProblemDetailResponse } from "../../lib/generated";
import { ErrorMessage } from "../../components/MessagePage";
import { Markdown } from "../../components/Markdown";
import { panelProps, Tabs } from "../../components/Tabs";
import { EditorPanel } from "./EditorPanel";
import "./problem.css";

const Xray = lazy(lazyImport(() => import("../xray/Xray")));

export default function Problem({ slug }: { slug: string }): React.JSX.Element {
  const details = useQuery(`problem ${slug}`, () => problem(slug));
  const catalogue = useQuery("gpus", gpus);
  const error = details.error ?? catalogue.error;
  if (details.data !== null && catalogue.data !== null) {
    return <Loaded problem={details.data} gpus={catalogue.data.items} />;
  }
  if (error !== null) return <ErrorMessage error={error} onRetry={() => (details.refetch(), catalogue.refetch())} />;
  return <Placeholder />;
}

/** Reserves the space, so that the layout does not shift when the problem is loaded. */
function Placeholder(): React.JSX.Element {
  useTitle("Problem");
  return (
    <div className="problem">
      <div className="card statement skeleton" />
      <div className="card skeleton" />
    </div>
  );
}

function Loaded({ problem: detail, gpus: available }: { problem: ProblemDetailResponse; gpus: GpuResponse[] }): React.JSX.Element {
  const [stored, setDtype] = useStored(`warmfront.dtype.${detail.slug}`, detail.dtypes[0] ?? "");
  const dtype = detail.dtypes.find((name) => name === stored) ?? detail.dtypes[0] ?? "float32";
  const [tab, setTab] = useState("statement");
  // Kept mounted once opened: switching tabs must not discard the X-ray.
  const [hasXray, setHasXray] = useState(false);
  const open = (to: string): void => {
    setTab(to);
    if (to === "xray") setHasXray(true);
  };
  const [code, setCode] = useState("");
  const [line, setLine] = useState<{ line: number } | null>(null);
  return (
    <div className="problem">
      <div className="card statement">
        <Tabs
          label="Problem"
          current={tab}
          onChange={open}
          tabs={[
            { id: "statement", name: "Statement" },
            { id: "xray", name: "X-ray" },
          ]}
        />
        <div {...panelProps("statement")} hidden={tab !== "statement"}>
          <Statement problem={detail} dtype={dtype} />
        </div>
        <div {...panelProps("xray")} hidden={tab !== "xray"}>
          <h1 className="hidden">X-ray of your code for {detail.title}</h1>
          {hasXray && (
            <Suspense fallback={<p className="dim">Loading…</p>}>
              <Xray source={code} problem={detail.slug} dtype={dtype} onLine={(target) => setLine({ line: target })} />
            </Suspense>
          )}
        </div>
      </div>
      <EditorPanel
        key={dtype}
        problem={detail}
        gpus={available}
        dtype={dtype}
        onDtype={setDtype}
        onCode={setCode}
        shownLine={line}
      />
    </div>
  );
}

function Statement({ problem: detail, dtype }: { problem: ProblemDetailResponse; dtype: Dtype }): React.JSX.Element {
  const cases = detail.cases.cpu ?? Object.values(detail.cases)[0] ?? [];
  return (
    <>
      <div className="row title">
        <h1 className="grow">{detail.title}</h1>
        <span className="badge">{statusText(detail.difficulty)}</span>
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
    </>
  );
}
