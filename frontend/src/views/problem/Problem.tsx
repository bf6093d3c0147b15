/** One problem: the statement on one side, the editor and what becomes of the code on the other. */
import { lazy, Suspense, useState } from "react";
import { Link } from "wouter";
import { gpus, problem } from "../../lib/api";
import { chunk } from "../../lib/chunks";
import { plural, words } from "../../lib/format";
import { useQuery, useStored, useTitle } from "../../lib/hooks";
import type { ProblemDetail } from "../../lib/types";
import { Failure } from "../../parts/Helping";
import { Markdown } from "../../parts/Markdown";
import { panelProps, Tabs } from "../../parts/Tabs";
import { Workbench } from "./Workbench";
import "./problem.css";

const Xray = lazy(chunk(() => import("../xray/Xray")));

export default function Problem({ slug }: { slug: string }): React.JSX.Element {
  const found = useQuery(`problem ${slug}`, () => problem(slug));
  const offered = useQuery("gpus", gpus);
  const error = found.error ?? offered.error;
  if (found.data !== null && offered.data !== null) {
    return <Loaded problem={found.data} gpus={offered.data.items} />;
  }
  if (error !== null) return <Failure error={error} onRetry={() => (found.again(), offered.again())} />;
  return <Waiting />;
}

/** Holds the room, so that nothing jumps when the problem comes. */
function Waiting(): React.JSX.Element {
  useTitle("Problem");
  return (
    <div className="problem">
      <div className="card statement skeleton" />
      <div className="card skeleton" />
    </div>
  );
}

type Gpus = Awaited<ReturnType<typeof gpus>>["items"];

function Loaded({ problem: given, gpus: offered }: { problem: ProblemDetail; gpus: Gpus }): React.JSX.Element {
  const [stored, setDtype] = useStored(`warmfront.dtype.${given.slug}`, given.dtypes[0] ?? "");
  const dtype = given.dtypes.includes(stored) ? stored : (given.dtypes[0] ?? "");
  const [tab, setTab] = useState("statement");
  // It stays once it was opened: going back to the statement costs no X-ray.
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
          label="The problem"
          current={tab}
          onChange={open}
          tabs={[
            { id: "statement", name: "Statement" },
            { id: "xray", name: "X-ray" },
          ]}
        />
        <div {...panelProps("statement")} hidden={tab !== "statement"}>
          <Statement problem={given} dtype={dtype} />
        </div>
        <div {...panelProps("xray")} hidden={tab !== "xray"}>
          <h1 className="hidden">X-ray of your code for {given.title}</h1>
          {hasXray && (
            <Suspense fallback={<p className="dim">Loading…</p>}>
              <Xray source={code} problem={given.slug} dtype={dtype} onLine={(at) => setLine({ line: at })} />
            </Suspense>
          )}
        </div>
      </div>
      <Workbench
        key={dtype}
        problem={given}
        gpus={offered}
        dtype={dtype}
        onDtype={setDtype}
        onCode={setCode}
        shownLine={line}
      />
    </div>
  );
}

function Statement({ problem: given, dtype }: { problem: ProblemDetail; dtype: string }): React.JSX.Element {
  const cases = given.cases.cpu ?? Object.values(given.cases)[0] ?? [];
  return (
    <>
      <div className="row title">
        <h1 className="grow">{given.title}</h1>
        <span className="badge">{words(given.difficulty)}</span>
        {given.solved && <span className="badge good">✓ Solved</span>}
      </div>
      <Markdown source={given.statement} />
      <h2>Signature</h2>
      <pre>{given.declarations[dtype] ?? given.declaration}</pre>
      <p className="small dim">
        All pointers are device memory. Outputs are not zero at the start. Write a kernel, launch it from{" "}
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
        <Link href={`/leaderboard/${given.slug}`}>Leaderboard</Link> ·{" "}
        <Link href={`/submissions?problem=${given.slug}`}>Your submissions</Link>
      </p>
    </>
  );
}
