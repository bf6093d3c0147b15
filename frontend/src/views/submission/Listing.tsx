/** The code as it was handed in, with line numbers. */
import { useEffect, useRef } from "react";

interface Props {
  text: string;
  name: string;
  /** A line to show. */
  line: number | null;
}

export function Listing({ text, name, line }: Props): React.JSX.Element {
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    box.current?.querySelector("[data-shown]")?.scrollIntoView({ block: "center" });
  }, [line]);
  return (
    <pre ref={box} className="listing" tabIndex={0} aria-label={`Code of ${name}`}>
      {text.split("\n").map((each, index) => (
        <span
          key={index}
          className="listing-line"
          data-number={index + 1}
          data-shown={index + 1 === line ? "" : undefined}
        >
          {each}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
