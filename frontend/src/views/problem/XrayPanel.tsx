/** The X-ray or the assembly of the code in the editor, updated when typing pauses. */
import { span } from "../../lib/format";
import { XrayReport } from "../xray/XrayReport";
import type { Dtype } from "../../lib/generated";
import { AssemblyPanel } from "./AssemblyPanel";
import type { EditorHandle } from "./Editor";
import { ShareXray } from "./ShareXray";
import type { LiveXray, XrayResult } from "./useLiveXray";
import "../../components/charts/charts.css";
import "../xray/xray.css";

interface Props {
  view: "xray" | "assembly";
  live: LiveXray;
  code: string;
  /** Null for a kernel without a problem. */
  slug: string | null;
  dtype: Dtype | null;
  cursor: number;
  editor: EditorHandle | null;
  onLine: (line: number) => void;
}

export default function XrayPanel({ view, live, code, slug, dtype, cursor, editor, onLine }: Props): React.JSX.Element {
  const { result, busy, error } = live;
  const hasAssembly = result?.hasAssembly === true && result.report.failure === null;
  return (
    <div className="stack xray" aria-busy={busy}>
      <p className="dim small" role="status">
        {error ?? statusLine(result, result?.source === code, busy)}
      </p>
      {view === "xray" && result !== null && result.report.failure === null && <ShareXray code={code} slug={slug} dtype={dtype} />}
      {result !== null && (view === "xray" || result.report.failure !== null) && (
        <XrayReport report={result.report} source={result.source} onLine={onLine} onLineLeaves={false} assembly={false} />
      )}
      {result !== null && view === "assembly" && hasAssembly && <AssemblyPanel report={result.report} editor={editor} cursor={cursor} />}
    </div>
  );
}

function statusLine(result: XrayResult | null, isCurrent: boolean, busy: boolean): string {
  if (busy) return "Compiling for the GPU. Nothing is executed, and it is free.";
  if (result === null) return "Compiles the code for the GPU when typing pauses. Nothing is executed, and it is free.";
  if (!isCurrent) return "The code has changed since this X-ray.";
  const { arch, compiler, seconds } = result.report;
  return [arch, compiler, seconds > 0 ? span(seconds) : ""].filter((part) => part !== "").join(" · ");
}
