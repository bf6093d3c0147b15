/** The editor's code and where it is kept; tells when another tab changed it. */
import { useCallback, useEffect, useRef, useState } from "react";
import { draftName, openDraft, parseDraft, saveDraft } from "./drafts";

const SAVE_MS = 300;

export interface DraftState {
  initial: string;
  code: string;
  /** Another tab's, while its author was not asked which to keep. */
  other: string | null;
  /** Storage is full or forbidden. */
  unsaved: boolean;
  change: (code: string) => void;
  settle: () => void;
}

export function useDraft(slug: string, dtype: string, starter: string): DraftState {
  const name = draftName(slug, dtype);
  const [opened] = useState(() => openDraft(name, starter));
  const [code, setCode] = useState(opened.code);
  const [other, setOther] = useState(opened.other);
  const [unsaved, setUnsaved] = useState(false);
  const latest = useRef({ code: opened.code, other: opened.other, dirty: false });

  const save = useCallback(() => {
    const { code: text, other: theirs, dirty } = latest.current;
    if (dirty) setUnsaved(!saveDraft(name, text, theirs === null));
    latest.current.dirty = false;
  }, [name]);

  useEffect(() => {
    const timer = setInterval(save, SAVE_MS);
    window.addEventListener("pagehide", save);
    return () => {
      clearInterval(timer);
      window.removeEventListener("pagehide", save);
      save();
    };
  }, [save]);

  useEffect(() => {
    const heard = (event: StorageEvent): void => {
      if (event.key !== name) return;
      const theirs = parseDraft(event.newValue)?.code ?? null;
      const differs = theirs !== latest.current.code ? theirs : null;
      latest.current.other = differs;
      setOther(differs);
    };
    window.addEventListener("storage", heard);
    return () => window.removeEventListener("storage", heard);
  }, [name]);

  const change = useCallback((text: string) => {
    latest.current.code = text;
    latest.current.dirty = true;
    setCode(text);
  }, []);

  const settle = useCallback(() => {
    latest.current.other = null;
    latest.current.dirty = true;
    setOther(null);
    save();
  }, [save]);

  return { initial: opened.code, code, other, unsaved, change, settle };
}
