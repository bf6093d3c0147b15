/** A formula. KaTeX comes when the first one is shown; until then the source stands in its place. */
import { useEffect, useRef } from "react";

interface Props {
  source: string;
  block?: boolean;
}

export function Tex({ source, block = false }: Props): React.JSX.Element {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    let over = false;
    const draw = async (): Promise<void> => {
      try {
        const { render } = await import("./katex");
        // Into elements, not through HTML: the policy forbids style attributes, and lets scripts set styles.
        if (!over && place.current !== null) render(source, place.current, block);
      } catch {
        // The service is away: the source can be read too.
        if (!over && place.current !== null) place.current.textContent = source;
      }
    };
    void draw();
    return () => {
      over = true;
    };
  }, [source, block]);
  const Tag = block ? "div" : "span";
  return (
    <Tag className={block ? "tex-block" : "tex"}>
      <span ref={place}>{block ? "" : source}</span>
    </Tag>
  );
}
