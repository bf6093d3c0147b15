/** What an instruction does and, for a matrix instruction, which lane has which elements. */
import { TileHelp } from "../problem/TileHelp";
import { instructionHelp, mnemonic } from "./instructionHelp";

/** The instruction is null if none is selected. */
export function InstructionHelp({ instruction }: { instruction: string | null }): React.JSX.Element {
  return (
    <>
      <p className="small instruction-help" role="status">
        {instruction === null ? (
          <span className="dim">Point at an instruction, or use the arrow keys, to see what it does.</span>
        ) : (
          <>
            <code>{mnemonic(instruction)}</code> {instructionHelp(instruction) ?? "No description."}
          </>
        )}
      </p>
      {instruction?.startsWith("v_mfma_") === true && <TileHelp key={mnemonic(instruction)} mnemonic={mnemonic(instruction)} />}
    </>
  );
}
