/** Every version of the code that was run: restore one, see how it differs from the editor, compare two. */
import { useState } from "react";
import { Link } from "wouter";
import { source, submissions } from "../../lib/api";
import { dateTime, plural } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { SubmissionResponse } from "../../lib/generated";
import { Badge } from "../../components/Badge";
import { TimeValue } from "../../components/TimeValue";
import { CodeDiff } from "../compare/CodeDiff";
import { comparisonPath, representative, versions, type Version } from "./versions";
import "../compare/compare.css";

const PAGE = 50;

interface Props {
  slug: string;
  /** The code in the editor. */
  code: string;
  /** The current run. */
  current: string | null;
  /** The current run has its verdict. */
  ended: boolean;
  onRestore: (code: string) => void;
}

export default function HistoryPanel({ slug, code, current, ended, onRestore }: Props): React.JSX.Element {
  const newest = useQuery(`history ${slug} ${current ?? ""} ${ended}`, () => submissions({ problem: slug, limit: PAGE }));
  const [older, setOlder] = useState<SubmissionResponse[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const [selected, setSelected] = useState<string[]>([]);
  const [loading, setLoading] = useState(false);
  if (newest.error !== null) return <p className="note bad">{newest.error.message}</p>;
  if (newest.data === null) return <p className="dim">Loading…</p>;
  const known = new Set(newest.data.items.map(({ id }) => id));
  const all = versions([...newest.data.items, ...older.filter(({ id }) => !known.has(id))]);
  const next = cursor === undefined ? newest.data.next_cursor : cursor;
  const showMore = async (): Promise<void> => {
    setLoading(true);
    const page = await submissions({ problem: slug, limit: PAGE, cursor: next ?? "" }).catch(() => null);
    if (page !== null) {
      setOlder((previous) => [...previous, ...page.items]);
      setCursor(page.next_cursor);
    }
    setLoading(false);
  };
  const toggle = (key: string): void =>
    setSelected((previous) => (previous.includes(key) ? previous.filter((other) => other !== key) : [...previous, key].slice(-2)));
  if (all.length === 0) return <p className="dim">No version has been run yet. Every version that you run is kept here.</p>;
  return (
    <div className="stack history">
      <div className="row">
        <span className="dim small grow">
          {selected.length === 2 ? "2 of 2 selected." : "Select two versions to compare, or compare one with the editor."}
        </span>
        <CompareLink chosen={all.filter(({ key }) => selected.includes(key))} />
      </div>
      <ol className="versions">
        {all.map((version) => (
          <VersionItem
            key={version.key}
            version={version}
            code={code}
            isSelected={selected.includes(version.key)}
            onToggle={() => toggle(version.key)}
            onRestore={onRestore}
          />
        ))}
      </ol>
      {next !== null && (
        <button className="button" disabled={loading} onClick={() => void showMore()}>
          {loading ? "Loading…" : "Show older versions"}
        </button>
      )}
    </div>
  );
}

function CompareLink({ chosen }: { chosen: readonly Version[] }): React.JSX.Element {
  const [first, second] = chosen;
  if (first === undefined || second === undefined) {
    return (
      <button className="button" disabled>
        Compare
      </button>
    );
  }
  return (
    <Link className="button primary" href={comparisonPath(representative(first), representative(second))}>
      Compare
    </Link>
  );
}

interface ItemProps {
  version: Version;
  code: string;
  isSelected: boolean;
  onToggle: () => void;
  onRestore: (code: string) => void;
}

function VersionItem({ version, code, isSelected, onToggle, onRestore }: ItemProps): React.JSX.Element {
  const [text, setText] = useState<string | null>(null);
  const [showsDiff, setShowsDiff] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const latest = version.submissions[0];
  const timed = representative(version);
  const load = async (then: (text: string) => void): Promise<void> => {
    try {
      const loaded = text ?? (await source(latest.id)).solution_code;
      setText(loaded);
      setError(null);
      then(loaded);
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  const when = dateTime(latest.created_at);
  return (
    <li className="version">
      <div className="row">
        <input type="checkbox" aria-label={`Compare the version of ${when}`} checked={isSelected} onChange={onToggle} />
        <span className="grow">
          <Link href={`/submissions/${latest.id}`}>{when}</Link> <span className="dim small">{latest.dtype}</span>
          {text === code && <span className="badge info">in the editor</span>}
        </span>
        <Badge status={latest.verdict ?? latest.state} />
      </div>
      <div className="row small">
        <span className="grow dim">
          {version.submissions.length > 1 ? `${plural(version.submissions.length, "run")}, the last: ` : ""}
          {latest.endpoint}
          {timed.avg_runtime_ms !== null && (
            <>
              {" · "}
              <TimeValue ms={timed.avg_runtime_ms} ci={timed.avg_ci} noisy={timed.noisy} />
            </>
          )}
        </span>
        <button
          className="button small"
          aria-expanded={showsDiff}
          aria-label={`${showsDiff ? "Hide diff" : "Diff"} of the version of ${when}`}
          onClick={() => void load(() => setShowsDiff(!showsDiff))}
        >
          {showsDiff ? "Hide diff" : "Diff"}
        </button>
        <button className="button small" aria-label={`Restore the version of ${when}`} onClick={() => void load(onRestore)}>
          Restore
        </button>
      </div>
      {error !== null && <p className="note bad small">{error}</p>}
      {showsDiff && text !== null && <CodeDiff before={text} after={code} title="From this version to the editor" />}
    </li>
  );
}
