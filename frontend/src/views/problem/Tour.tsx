/** A tour of the workspace for a first visit, above the statement and not modal. It is not shown again after it is closed. */
import { useEffect, useState } from "react";
import { useStored } from "../../lib/hooks";

const STEPS: readonly { target: string; title: string; text: string }[] = [
  { target: "statement", title: "The task", text: "What to compute, and the signature of the function solution that you write." },
  {
    target: "editor",
    title: "The editor",
    text: "Errors are marked while you type. The line below shows registers, occupancy and spills. Run checks the results, Benchmark also measures the time, Submit also enters the result on the leaderboard.",
  },
  {
    target: "dock",
    title: "The results",
    text: "The verdict with the first wrong values, the X-ray, the assembly in the colors of its source lines, and every version that you ran.",
  },
];

export function Tour(): React.JSX.Element | null {
  const [seen, setSeen] = useStored("warmfront.tour", "");
  const [index, setIndex] = useState(0);
  const step = seen === "" ? STEPS[index] : undefined;
  const target = step?.target;
  useEffect(() => {
    if (target === undefined) return undefined;
    const pane = document.querySelector(`[data-tour="${target}"]`);
    pane?.classList.add("tour-target");
    return () => pane?.classList.remove("tour-target");
  }, [target]);
  if (step === undefined) return null;
  const isLast = index === STEPS.length - 1;
  return (
    <aside className="note info tour stack" aria-label="Tour">
      <div>
        <h2>{step.title}</h2>
        <p className="small">{step.text}</p>
      </div>
      <div className="row">
        <span className="dim small grow">
          {index + 1} of {STEPS.length}
        </span>
        <button className="button small" onClick={() => setSeen("closed")}>
          {isLast ? "Done" : "Do not show again"}
        </button>
        {!isLast && (
          <button className="button primary small" onClick={() => setIndex(index + 1)}>
            Next
          </button>
        )}
      </div>
    </aside>
  );
}
