/** The editor's appearance, and the keywords that HIP adds to C++. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { Decoration, EditorView, MatchDecorator, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const KEYWORDS =
  /\b(?:__(?:global|device|host|shared|constant|launch_bounds|restrict|forceinline|noinline|syncthreads|threadfence|shfl_(?:up|down|xor)|shfl|ballot|any|all)__|__(?:syncthreads|threadfence|shfl_(?:up|down|xor)|shfl|ballot|any|all|popc|clz|ldg)|threadIdx|blockIdx|blockDim|gridDim|warpSize|dim3|hip[A-Z]\w*|atomic[A-Z]\w*|__half2?|_Float16)\b|<<<|>>>/g;

const decorator = new MatchDecorator({ regexp: KEYWORDS, decoration: Decoration.mark({ class: "cm-hip" }) });

export const hipKeywords = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorator.createDeco(view);
    }

    update(update: ViewUpdate): void {
      this.decorations = decorator.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--code-type)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.string, tags.character, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-meta)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--code-function)" },
]);

const surface = EditorView.theme({
  "&": { height: "100%", fontSize: "13.5px", color: "var(--text)", backgroundColor: "var(--surface)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--dim)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-hip": { color: "var(--code-hip)", fontWeight: "600" },
  ".cm-hip span": { color: "inherit" },
  ".cm-matchingBracket": { outline: "1px solid var(--line-strong)", backgroundColor: "transparent !important" },
  // CodeMirror's own markers are images in data: URLs, which the Content Security Policy forbids.
  ".cm-lintRange-error, .cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warn)" },
  ".cm-lint-marker": { width: "0.7em", height: "0.7em", margin: "0.2em", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "normal", backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--warn)", borderRadius: "0" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--surface)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-textfield, .cm-button": { backgroundColor: "var(--surface)", backgroundImage: "none", color: "var(--text)" },
});

export const appearance: Extension = [surface, syntaxHighlighting(colors)];
