/** A formula. KaTeX is loaded for the first one; until then the TeX source is shown. */
import { useEffect, useRef } from "react";

interface Props {
  source: string;
  block?: boolean;
}

export function Tex({ source, block = false }: Props): React.JSX.Element {
  const target = useRef<HTMLElement>(null);
  useEffect(() => {
    let stopped = false;
    const draw = async (): Promise<void> => {
      try {
        const { render } = await import("./katex");
        // As elements, not as HTML: the Content Security Policy forbids style attributes but lets scripts set styles.
        if (!stopped && target.current !== null) render(source, target.current, block);
      } catch {
        // KaTeX could not be loaded; the TeX source is readable too.
        if (!stopped && target.current !== null) target.current.textContent = source;
      }
    };
    void draw();
    return () => {
      stopped = true;
    };
  }, [source, block]);
  const Tag = block ? "div" : "span";
  return (
    <Tag className={block ? "tex-block" : "tex"}>
      <span ref={target}>{block ? "" : source}</span>
    </Tag>
  );
}
