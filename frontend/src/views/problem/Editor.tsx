/** The code editor: CodeMirror with HIP keywords, diagnostics, and optional Vim keys. */
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Prec, type Extension, type Text, type Transaction } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useImperativeHandle, useRef, type Ref } from "react";
import { cspNonce } from "../../lib/theme";
import { actionForKey, type Action } from "./actions";
import { hipHelp } from "./hipHelp";
import { appearance, hipKeywords } from "./hipLanguage";
import { linkedLines, setActiveLine, setLineColors } from "./linkedLines";
import type { LineDiagnostic } from "./lineDiagnostics";
import { tabOrder, type TabMode } from "./tabOrder";

export interface EditorHandle {
  code: () => string;
  /** Replace the code; undo restores the old one. */
  replace: (code: string) => void;
  showDiagnostics: (diagnostics: readonly LineDiagnostic[]) => void;
  goTo: (line: number) => void;
  /** Color lines like their instructions: a color number by line. */
  colorLines: (colors: ReadonlyMap<number, number>) => void;
  /** Highlight the line of an instruction under the pointer. */
  highlightLine: (line: number | null) => void;
  focus: () => void;
}

interface Props {
  ref: Ref<EditorHandle>;
  initial: string;
  vim: boolean;
  onChange: (code: string) => void;
  onAction: (action: Action) => void;
  /** The cursor moved to this line. */
  onCursor: (line: number) => void;
  onTabMode: (mode: TabMode) => void;
}

export default function Editor({ ref, initial, vim, onChange, onAction, onCursor, onTabMode }: Props): React.JSX.Element {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const keys = useRef(new Compartment());
  const handlers = useRef({ onChange, onAction, onCursor, onTabMode });
  const startCode = useRef(initial);
  useEffect(() => {
    handlers.current = { onChange, onAction, onCursor, onTabMode };
  });
  useEffect(() => {
    if (parent.current === null) return undefined;
    const notifyChange = EditorView.updateListener.of((update) => {
      if (update.docChanged) handlers.current.onChange(update.state.doc.toString());
      if (update.selectionSet || update.docChanged) {
        handlers.current.onCursor(update.state.doc.lineAt(update.state.selection.main.head).number);
      }
    });
    const shortcuts = Prec.highest(
      EditorView.domEventHandlers({
        keydown: (event) => {
          const action = actionForKey(event);
          if (action === null) return false;
          event.preventDefault();
          handlers.current.onAction(action);
          return true;
        },
      }),
    );
    const state = EditorState.create({
      doc: startCode.current,
      extensions: [keys.current.of([]), shortcuts, replaceSelection, notifyChange, tabOrder((mode) => handlers.current.onTabMode(mode)), ...baseExtensions()],
    });
    const editor = new EditorView({ state, parent: parent.current });
    view.current = editor;
    return () => {
      startCode.current = editor.state.doc.toString();
      editor.destroy();
      view.current = null;
    };
  }, []);
  useEffect(() => void setKeys(view.current, keys.current, vim), [vim]);
  useImperativeHandle(ref, () => ({
    code: () => view.current?.state.doc.toString() ?? startCode.current,
    replace: (code) => {
      const editor = view.current;
      // A step of its own in the history: one undo brings back the code that was replaced, and nothing older.
      const annotations = isolateHistory.of("full");
      editor?.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: code }, annotations });
    },
    showDiagnostics: (diagnostics) => {
      const editor = view.current;
      editor?.dispatch(setDiagnostics(editor.state, diagnostics.map((item) => toCodeMirror(editor.state.doc, item))));
    },
    goTo: (line) => {
      const editor = view.current;
      if (editor === null) return;
      const position = lineAt(editor.state.doc, line).from;
      editor.dispatch({ selection: { anchor: position }, effects: EditorView.scrollIntoView(position, { y: "center" }) });
      editor.focus();
    },
    colorLines: (colors) => view.current?.dispatch({ effects: setLineColors.of(colors) }),
    highlightLine: (line) => view.current?.dispatch({ effects: setActiveLine.of(line) }),
    focus: () => view.current?.focus(),
  }), []);
  return <div className="editor" ref={parent} />;
}

function baseExtensions(): Extension[] {
  return [
    EditorView.cspNonce.of(cspNonce()),
    EditorView.contentAttributes.of({ "aria-label": "HIP source. Press Escape, then Tab to leave the editor.", tabindex: "0" }),
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
    hipKeywords,
    hipHelp,
    linkedLines,
    appearance,
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
  ];
}

/** Insert text typed over a selection ourselves: the browser would keep the color of the old text in a style
 * attribute, which violates the Content Security Policy and is reported in the console. */
const replaceSelection = EditorView.domEventHandlers({
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

/** Switch Vim keys on or off. They are in a separate chunk, loaded on first use. */
async function setKeys(view: EditorView | null, keys: Compartment, vim: boolean): Promise<void> {
  const extension = vim ? (await import("@replit/codemirror-vim")).vim({ status: true }) : [];
  view?.dispatch({ effects: keys.reconfigure(extension) });
}

function lineAt(doc: Text, line: number): { from: number; to: number } {
  return doc.line(Math.min(Math.max(1, line), doc.lines));
}

/** Mark from the column to the end of the word, or the whole line if there is no column. */
function toCodeMirror(doc: Text, item: LineDiagnostic): Diagnostic {
  const line = lineAt(doc, item.line);
  const from = item.column === null ? line.from : Math.min(line.from + item.column - 1, line.to);
  const word = /^\w+/.exec(doc.sliceString(from, line.to))?.[0].length ?? 1;
  const to = item.column === null ? line.to : Math.min(from + word, line.to);
  return { from: Math.min(from, to), to, severity: item.severity, message: item.message };
}
