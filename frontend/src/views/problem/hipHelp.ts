/** Completion of HIP names, and help on the name below the pointer or, with F1, at the cursor. */
import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import { loadReference, type Entry } from "./hipReference";
import { tilePicture } from "./tilePicture";

/** Fewer letters match too much. */
const MIN_LETTERS = 3;
const WORD = /[A-Za-z_]\w*$/;

export async function completeHip(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(WORD);
  if (word === null || (!context.explicit && word.to - word.from < MIN_LETTERS) || inText(context.state, context.pos)) return null;
  const options = completions(await loadReference(), word.text);
  return options.length === 0 ? null : { from: word.from, options, validFor: /^\w*$/ };
}

/** The entries that complete a word. Builtins have long names, and are offered only after a part of their prefix. */
export function completions(reference: ReadonlyMap<string, Entry>, word: string): Completion[] {
  const wantsBuiltins = word.startsWith("__b") || word.includes("mfma");
  return [...reference.values()]
    .filter(({ name }) => (wantsBuiltins || !name.startsWith("__builtin_")) && name !== word)
    .map((entry) => ({ label: entry.name, type: entry.kind, info: () => help(entry) }));
}

/** Whether a position is in a comment or a string. */
function inText(state: EditorState, position: number): boolean {
  return /Comment|String|CharLiteral|IncludePath|SystemLib/.test(syntaxTree(state).resolveInner(position, -1).name);
}

function wordAt(state: EditorState, position: number): { from: number; to: number; text: string } | null {
  const range = state.wordAt(position);
  return range === null ? null : { from: range.from, to: range.to, text: state.sliceDoc(range.from, range.to) };
}

async function tooltipAt(state: EditorState, position: number): Promise<Tooltip | null> {
  const word = wordAt(state, position);
  if (word === null || inText(state, position)) return null;
  const entry = (await loadReference()).get(word.text);
  return entry === undefined ? null : { pos: word.from, end: word.to, above: true, create: () => ({ dom: help(entry) }) };
}

/** The explanation of a name. */
function help({ name, signature, text, matrix, picture }: Entry): HTMLElement {
  const box = document.createElement("div");
  box.className = "hip-help";
  box.dataset.name = name;
  const code = box.appendChild(document.createElement("code"));
  code.textContent = signature;
  const paragraph = box.appendChild(document.createElement("p"));
  paragraph.textContent = text;
  if (matrix !== undefined && picture !== undefined) box.append(tilePicture(matrix, picture));
  return box;
}

const setHelp = StateEffect.define<Tooltip | null>();

/** The help that F1 opened; any change or movement closes it. */
const openHelp = StateField.define<Tooltip | null>({
  create: () => null,
  update: (value, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setHelp)) return effect.value;
    return transaction.docChanged || transaction.selection !== undefined ? null : value;
  },
  provide: (field) => showTooltip.from(field),
});

const helpKeys = keymap.of([
  {
    key: "F1",
    preventDefault: true,
    run: (view) => {
      const position = view.state.selection.main.head;
      void tooltipAt(view.state, position).then((tooltip) => {
        if (view.state.selection.main.head === position) view.dispatch({ effects: setHelp.of(tooltip) });
      });
      return true;
    },
  },
  {
    key: "Escape",
    run: (view) => {
      if (view.state.field(openHelp) === null) return false;
      view.dispatch({ effects: setHelp.of(null) });
      return true;
    },
  },
]);

export const hipHelp: Extension = [
  autocompletion({ override: [completeHip], icons: false, maxRenderedOptions: 60 }),
  hoverTooltip((view, position) => tooltipAt(view.state, position), { hoverTime: 350 }),
  openHelp,
  helpKeys,
];
