/** The source as it was submitted, with line numbers. */
import { useEffect, useRef } from "react";

interface Props {
  text: string;
  name: string;
  /** The line to scroll to and highlight. */
  line: number | null;
}

export function SourceView({ text, name, line }: Props): React.JSX.Element {
  const container = useRef<HTMLPreElement>(null);
  useEffect(() => {
    container.current?.querySelector("[data-shown]")?.scrollIntoView({ block: "center" });
  }, [line]);
  return (
    <pre ref={container} className="source-view" tabIndex={0} aria-label={`Source of ${name}`}>
      {text.split("\n").map((lineText, index) => (
        <span
          key={index}
          className="source-line"
          data-number={index + 1}
          data-shown={index + 1 === line ? "" : undefined}
        >
          {lineText}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
