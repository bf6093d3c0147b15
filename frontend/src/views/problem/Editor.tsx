/** The editor: CodeMirror with HIP's words, marks on lines, and vim keys where they are wanted. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension, type Text, type Transaction } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useImperativeHandle, useRef, type Ref } from "react";
import { cspNonce } from "../../lib/theme";
import { appearance, hipWords } from "./hip";
import type { Mark } from "./marks";
import { actionOf, type Action } from "./words";

export interface EditorHandle {
  code: () => string;
  /** Put other code in its place; undo brings the old back. */
  replace: (code: string) => void;
  mark: (marks: readonly Mark[]) => void;
  goTo: (line: number) => void;
}

interface Props {
  ref: Ref<EditorHandle>;
  initial: string;
  vim: boolean;
  onChange: (code: string) => void;
  onAction: (action: Action) => void;
}

export default function Editor({ ref, initial, vim, onChange, onAction }: Props): React.JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const keys = useRef(new Compartment());
  const handlers = useRef({ onChange, onAction });
  const first = useRef(initial);
  useEffect(() => {
    handlers.current = { onChange, onAction };
  });
  useEffect(() => {
    if (place.current === null) return undefined;
    const changed = EditorView.updateListener.of((update) => {
      if (update.docChanged) handlers.current.onChange(update.state.doc.toString());
    });
    const actions = Prec.highest(
      EditorView.domEventHandlers({
        keydown: (event) => {
          const action = actionOf(event);
          if (action === null) return false;
          event.preventDefault();
          handlers.current.onAction(action);
          return true;
        },
      }),
    );
    const state = EditorState.create({
      doc: first.current,
      extensions: [keys.current.of([]), actions, typedOver, changed, ...basics()],
    });
    const editor = new EditorView({ state, parent: place.current });
    view.current = editor;
    return () => {
      first.current = editor.state.doc.toString();
      editor.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => void setKeys(view.current, keys.current, vim), [vim]);
  useImperativeHandle(ref, () => ({
    code: () => view.current?.state.doc.toString() ?? first.current,
    replace: (code) => {
      const editor = view.current;
      editor?.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: code } });
    },
    mark: (marks) => {
      const editor = view.current;
      editor?.dispatch(setDiagnostics(editor.state, marks.map((mark) => diagnostic(editor.state.doc, mark))));
    },
    goTo: (line) => {
      const editor = view.current;
      if (editor === null) return;
      const at = lineAt(editor.state.doc, line).from;
      editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      editor.focus();
    },
  }), []);
  return <div className="editor" ref={place} />;
}

function basics(): Extension[] {
  return [
    EditorView.cspNonce.of(cspNonce()),
    EditorView.contentAttributes.of({ "aria-label": "HIP source. Escape, then Tab leaves the editor.", tabindex: "0" }),
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    drawSelection(),
    history(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    indentUnit.of("    "),
    highlightSelectionMatches(),
    cpp(),
    hipWords,
    appearance,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
  ];
}

/** What is typed over a selection goes in by us: the browser would keep the old text's colour in a style attribute,
 * which the policy forbids and the console tells of. */
const typedOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { main, ranges } = view.state.selection;
    const text = event.data;
    if (main.empty || ranges.length > 1 || event.inputType !== "insertText" || text === null || view.composing) return false;
    event.preventDefault();
    const { from, to } = main;
    const insert = (): Transaction =>
      view.state.update({
        changes: { from, to, insert: text },
        selection: { anchor: from + text.length },
        userEvent: "input.type",
        scrollIntoView: true,
      });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

/** Vim's keys are a chunk of their own, for those who ask for it. */
async function setKeys(view: EditorView | null, keys: Compartment, vim: boolean): Promise<void> {
  const extension = vim ? (await import("@replit/codemirror-vim")).vim({ status: true }) : [];
  view?.dispatch({ effects: keys.reconfigure(extension) });
}

function lineAt(doc: Text, line: number): { from: number; to: number } {
  return doc.line(Math.min(Math.max(1, line), doc.lines));
}

/** From the column to the end of the word; the whole line where no column is told. */
function diagnostic(doc: Text, mark: Mark): Diagnostic {
  const line = lineAt(doc, mark.line);
  const from = mark.column === null ? line.from : Math.min(line.from + mark.column - 1, line.to);
  const word = /^\w+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 1;
  const to = mark.column === null ? line.to : Math.min(from + word, line.to);
  return { from: Math.min(from, to), to, severity: mark.severity, message: mark.message };
}
