/** KaTeX and its styles, in a separate chunk. */
import katex from "katex";
import "katex/dist/katex.min.css";

export function render(source: string, into: HTMLElement, displayMode: boolean): void {
  katex.render(source, into, { displayMode, throwOnError: false, output: "htmlAndMathml", strict: false });
}
