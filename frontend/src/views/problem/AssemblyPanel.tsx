/** The assembly beside the editor: the same colors on both, and help on the instruction under the pointer or the cursor. */
import { useEffect, useMemo, useState } from "react";
import type { AssemblyBlock } from "../../lib/generated";
import { AssemblyList } from "../xray/AssemblyList";
import { InstructionHelp } from "../xray/InstructionHelp";
import { lineColors } from "../xray/lineColors";
import type { XrayReportData } from "../xray/report";
import type { EditorHandle } from "./Editor";
import { kernelAt } from "./xrayStatus";

interface Props {
  report: XrayReportData;
  editor: EditorHandle | null;
  /** The line of the cursor in the editor. */
  cursor: number;
}

const NONE: readonly AssemblyBlock[] = [];

export function AssemblyPanel({ report, editor, cursor }: Props): React.JSX.Element {
  const kernel = kernelAt(report.kernels, cursor);
  const blocks = kernel?.isa ?? NONE;
  const colors = useMemo(() => lineColors(blocks), [blocks]);
  const [instruction, setInstruction] = useState<string | null>(null);
  useEffect(() => {
    editor?.colorLines(colors);
    return () => {
      editor?.colorLines(new Map());
      editor?.highlightLine(null);
    };
  }, [editor, colors]);
  if (kernel === undefined) return <p className="dim">The code has no kernel.</p>;
  return (
    <div className="assembly-panel">
      <p className="small dim">
        <code>{kernel.name}</code>, {report.arch}. Lines of the same color belong together. Follows the cursor in the editor.
      </p>
      <AssemblyList
        key={kernel.symbol}
        kernel={kernel.name}
        blocks={blocks}
        colors={colors}
        line={cursor}
        onLine={(line) => editor?.highlightLine(line)}
        onOpen={(line) => editor?.goTo(line)}
        onInstruction={setInstruction}
      />
      <InstructionHelp instruction={instruction} />
    </div>
  );
}
