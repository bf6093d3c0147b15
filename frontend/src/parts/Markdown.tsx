/** The Markdown that statements are written in: paragraphs, lists, bold, code and formulas. Nothing becomes HTML. */
import { Fragment, type ReactNode } from "react";
import { Tex } from "./Tex";

export function Markdown({ source }: { source: string }): React.JSX.Element {
  const blocks = source.trim().split(/\n{2,}/);
  return <div className="markdown">{blocks.map((block, at) => <Block key={at} text={block} />)}</div>;
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
        {items.map((item, at) => (
          <li key={at}>{inline(item)}</li>
        ))}
      </ul>
    );
  }
  return <p>{inline(text)}</p>;
}

/** `code`, $formula$ and **bold**; the odd pieces of the split are one of them. */
export function inline(text: string): ReactNode {
  return text.split(/(`[^`]+`|\$[^$]+\$|\*\*[^*]+\*\*)/).map((piece, at) => {
    const inner = piece.slice(1, -1);
    if (at % 2 === 0) return <Fragment key={at}>{piece}</Fragment>;
    if (piece.startsWith("`")) return <code key={at}>{inner}</code>;
    if (piece.startsWith("$")) return <Tex key={at} source={inner} />;
    return <strong key={at}>{piece.slice(2, -2)}</strong>;
  });
}
