import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { nonce } from "@/api/base";
import type { ProblemView } from "@/api/types.gen";
import classes from "./CodeEditor.module.css";

interface Props {
  label: string;
  /** The text at the beginning. */
  text: string;
  onChange: (text: string) => void;
  /** Marked at their lines. */
  problems: readonly ProblemView[];
  isReadOnly?: boolean;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--ink-3)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.atom], color: "var(--run)" },
  { tag: [tags.propertyName, tags.keyword], color: "var(--ink)" },
  { tag: tags.bracket, color: "var(--ink-2)" },
]);

const DOT = { content: '""', width: "8px", height: "8px", margin: "5px 0 0", borderRadius: "50%" };
const WAVE = { backgroundImage: "none", textDecoration: "underline wavy 1px", textUnderlineOffset: "3px" };

/** Replaces styles of CodeMirror that are more specific than a style sheet of ours, or are images, which the CSP refuses. */
const STYLES = EditorView.theme({
  ".cm-lint-marker-error": { ...DOT, background: "var(--bad-fill)" },
  ".cm-lint-marker-warning": { ...DOT, background: "var(--look-fill)" },
  ".cm-lintRange-error": { ...WAVE, textDecorationColor: "var(--bad-fill)" },
  ".cm-lintRange-warning": { ...WAVE, textDecorationColor: "var(--look-fill)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selected)",
  },
});

/** An editor of TOML with line numbers and marks at problems. */
export function CodeEditor({ label, text, onChange, problems, isReadOnly = false }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const changed = useRef(onChange);
  changed.current = onChange;

  useEffect(() => {
    if (!place.current) return;
    const editor = new EditorView({
      doc: text,
      parent: place.current,
      extensions: [
        EditorView.cspNonce.of(nonce),
        STYLES,
        lineNumbers(),
        lintGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        StreamLanguage.define(toml),
        syntaxHighlighting(COLOURS),
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => update.docChanged && changed.current(update.state.doc.toString())),
      ],
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, [text, label, isReadOnly]);

  useEffect(() => {
    const editor = view.current;
    if (editor) editor.dispatch(setDiagnostics(editor.state, diagnostics(problems, editor.state.doc)));
  }, [problems]);

  return <div ref={place} className={classes.editor} />;
}

/** Return the marks of problems: from their column to the end of the line. */
export function diagnostics(problems: readonly ProblemView[], document: Text): Diagnostic[] {
  return problems
    .filter((problem) => problem.line > 0 && problem.line <= document.lines)
    .map((problem) => {
      const line = document.line(problem.line);
      const from = Math.min(line.from + Math.max(0, problem.column - 1), line.to);
      const message = [problem.message, problem.hint].filter(Boolean).join("\n");
      return { from, to: line.to, severity: problem.severity, message };
    });
}
