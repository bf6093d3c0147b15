/** Render the Markdown subset of problem statements: paragraphs, lists, bold, code and formulas. No HTML is inserted. */
import { Fragment, type ReactNode } from "react";
import { Tex } from "./Tex";

export function Markdown({ source }: { source: string }): React.JSX.Element {
  const blocks = source.trim().split(/\n{2,}/);
  return <div className="markdown">{blocks.map((block, index) => <Block key={index} text={block} />)}</div>;
}

function Block({ text }: { text: string }): React.JSX.Element {
  const formula = /^\$\$([\s\S]+)\$\$$/.exec(text.trim());
  if (formula?.[1] !== undefined) return <Tex block source={formula[1]} />;
  const heading = /^\*\*([^*]+)\*\*$/.exec(text.trim());
  if (heading?.[1] !== undefined) return <h2>{heading[1]}</h2>;
  if (text.startsWith("- ")) {
    const items = text.slice(2).split(/\n- /);
    return (
      <ul>
        {items.map((item, index) => (
          <li key={index}>{inline(item)}</li>
        ))}
      </ul>
    );
  }
  return <p>{inline(text)}</p>;
}

/** Render `code`, $formula$ and **bold**; these are the odd parts of the split. */
export function inline(text: string): ReactNode {
  return text.split(/(`[^`]+`|\$[^$]+\$|\*\*[^*]+\*\*)/).map((part, index) => {
    const inner = part.slice(1, -1);
    if (index % 2 === 0) return <Fragment key={index}>{part}</Fragment>;
    if (part.startsWith("`")) return <code key={index}>{inner}</code>;
    if (part.startsWith("$")) return <Tex key={index} source={inner} />;
    return <strong key={index}>{part.slice(2, -2)}</strong>;
  });
}
