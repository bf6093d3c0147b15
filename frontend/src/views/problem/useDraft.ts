/** The editor's code, saved in the browser; reports changes by another tab. */
import { useCallback, useEffect, useRef, useState } from "react";
import { draftName, openDraft, parseDraft, saveDraft } from "./drafts";

const SAVE_INTERVAL_MS = 300;

export interface DraftState {
  initial: string;
  code: string;
  /** The conflicting draft of another tab, until the author chooses one. */
  other: string | null;
  /** Browser storage is full or blocked. */
  unsaved: boolean;
  change: (code: string) => void;
  resolveConflict: () => void;
}

export function useDraft(slug: string, dtype: string, starter: string): DraftState {
  const [name] = useState(() => draftName(slug, dtype));
  const [opened] = useState(() => openDraft(name, starter));
  const [code, setCode] = useState(opened.code);
  const [other, setOther] = useState(opened.other);
  const [unsaved, setUnsaved] = useState(false);
  const latest = useRef({ code: opened.code, other: opened.other, dirty: false });

  const save = useCallback(() => {
    const { code: text, other: conflicting, dirty } = latest.current;
    if (dirty) setUnsaved(!saveDraft(name, text, conflicting === null));
    latest.current.dirty = false;
  }, [name]);

  useEffect(() => {
    const timer = setInterval(save, SAVE_INTERVAL_MS);
    window.addEventListener("pagehide", save);
    return () => {
      clearInterval(timer);
      window.removeEventListener("pagehide", save);
      save();
    };
  }, [save]);

  useEffect(() => {
    const onStorage = (event: StorageEvent): void => {
      if (event.key !== name) return;
      const theirs = parseDraft(event.newValue)?.code ?? null;
      const differs = theirs !== latest.current.code ? theirs : null;
      latest.current.other = differs;
      setOther(differs);
    };
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, [name]);

  const change = useCallback((text: string) => {
    latest.current.code = text;
    latest.current.dirty = true;
    setCode(text);
  }, []);

  const resolveConflict = useCallback(() => {
    latest.current.other = null;
    latest.current.dirty = true;
    setOther(null);
    save();
  }, [save]);

  return { initial: opened.code, code, other, unsaved, change, resolveConflict };
}
