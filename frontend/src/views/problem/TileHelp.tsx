/** The picture of the tile of a matrix instruction in assembly; nothing for other instructions. */
import { useEffect, useRef, useState } from "react";
import { loadReference, matrixEntry, matrixText, type Entry } from "./hipReference";
import { tilePicture } from "./tilePicture";

export function TileHelp({ mnemonic }: { mnemonic: string }): React.JSX.Element | null {
  const [entry, setEntry] = useState<Entry | null>(null);
  const picture = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let stopped = false;
    if (!mnemonic.startsWith("v_mfma_")) return undefined;
    void loadReference().then((reference) => {
      if (!stopped) setEntry(matrixEntry(reference, mnemonic));
    });
    return () => {
      stopped = true;
    };
  }, [mnemonic]);
  const matrix = entry?.matrix;
  const tile = entry?.picture;
  useEffect(() => {
    if (matrix !== undefined && tile !== undefined) picture.current?.replaceChildren(tilePicture(matrix, tile));
  }, [matrix, tile]);
  if (matrix === undefined) return null;
  return (
    <details className="tile-help" open>
      <summary className="small">The tile: which lane has which elements</summary>
      <p className="small">{matrixText(matrix)}</p>
      <div ref={picture} />
    </details>
  );
}
