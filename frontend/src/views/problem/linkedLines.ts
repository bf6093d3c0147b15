/** Colors on the lines of the editor that have instructions, the same as in the assembly beside it. */
import { RangeSetBuilder, StateEffect, StateField, type EditorState, type Text } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

export const setLineColors = StateEffect.define<ReadonlyMap<number, number>>();
export const setActiveLine = StateEffect.define<number | null>();

/** Decorations move with the text while it is edited, until the next assembly arrives. */
const colors = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (decorations, transaction) => {
    const set = transaction.effects.find((effect) => effect.is(setLineColors));
    return set === undefined ? decorations.map(transaction.changes) : colorDecorations(transaction.state, set.value);
  },
  provide: (field) => EditorView.decorations.from(field),
});

const active = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (decorations, transaction) => {
    const set = transaction.effects.find((effect) => effect.is(setActiveLine));
    if (set === undefined) return decorations.map(transaction.changes);
    const from = set.value === null ? null : lineStart(transaction.state.doc, set.value);
    return from === null ? Decoration.none : Decoration.set([Decoration.line({ class: "cm-linked" }).range(from)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function colorDecorations(state: EditorState, byLine: ReadonlyMap<number, number>): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const [line, color] of [...byLine].sort(([a], [b]) => a - b)) {
    const from = lineStart(state.doc, line);
    if (from !== null) builder.add(from, from, Decoration.line({ class: `link-color link-${color}` }));
  }
  return builder.finish();
}

function lineStart(doc: Text, line: number): number | null {
  return line >= 1 && line <= doc.lines ? doc.line(line).from : null;
}

export const linkedLines = [colors, active];
