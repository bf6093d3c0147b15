/** One problem: loads it and the GPUs, and opens the workspace. */
import { useState } from "react";
import { useSearchParams } from "wouter";
import { gpus, problem, source, submission } from "../../lib/api";
import { useQuery, useStored, useTitle } from "../../lib/hooks";
import type { GpuResponse, ProblemDetailResponse } from "../../lib/generated";
import { ErrorMessage } from "../../components/MessagePage";
import { Workspace } from "./Workspace";
import "./problem.css";
import "./workspace.css";

export default function Problem({ slug }: { slug: string }): React.JSX.Element {
  const details = useQuery(`problem ${slug}`, () => problem(slug));
  const catalog = useQuery("gpus", gpus);
  const error = details.error ?? catalog.error;
  if (details.data !== null && catalog.data !== null) {
    return <Loaded problem={details.data} gpus={catalog.data.items} />;
  }
  if (error !== null) return <ErrorMessage error={error} onRetry={() => (details.refetch(), catalog.refetch())} />;
  return <Placeholder />;
}

/** Reserves the space, so that the layout does not shift when the problem is loaded. */
function Placeholder(): React.JSX.Element {
  useTitle("Problem");
  return (
    <div className="workspace">
      <div className="card statement skeleton" />
      <div className="card editor-card skeleton" />
      <div className="card dock skeleton" />
    </div>
  );
}

interface LoadedProps {
  problem: ProblemDetailResponse;
  gpus: GpuResponse[];
}

function Loaded({ problem: detail, gpus: available }: LoadedProps): React.JSX.Element {
  const [stored, setDtype] = useStored(`warmfront.dtype.${detail.slug}`, detail.dtypes[0] ?? "");
  const [search, setSearch] = useSearchParams();
  // `?from=sub_…` opens the code of a submission in the editor, once: a reload must not overwrite later changes.
  const [from] = useState(() => search.get("from"));
  const requested = useQuery(`open ${from ?? ""}`, () => (from === null ? Promise.resolve(null) : openSubmission(from)));
  const isOpening = search.get("from") !== null;
  const wantedDtype = isOpening ? (requested.data?.dtype ?? stored) : stored;
  const dtype = detail.dtypes.find((name) => name === wantedDtype) ?? detail.dtypes[0] ?? "float32";
  if (isOpening && requested.error !== null) return <ErrorMessage error={requested.error} onRetry={requested.refetch} />;
  if (isOpening && requested.data === null) return <Placeholder />;
  return (
    <Workspace
      key={dtype}
      problem={detail}
      gpus={available}
      dtype={dtype}
      onDtype={setDtype}
      opened={isOpening ? (requested.data?.code ?? null) : null}
      onOpened={() => {
        setDtype(dtype);
        setSearch({}, { replace: true });
      }}
    />
  );
}

async function openSubmission(id: string): Promise<{ code: string; dtype: string }> {
  const [record, { solution_code: code }] = await Promise.all([submission(id), source(id)]);
  return { code, dtype: record.dtype };
}
