/** Drafts of the code, saved in this browser: per tab, to survive a reload, and shared, for the next tab.
 *
 * Two tabs with the same problem have separate drafts. When another tab changes the shared draft, the author chooses which one to keep.
 */
import { ofUser } from "../../lib/pageUser";
import { read, write } from "../../lib/storage";

export interface Draft {
  code: string;
  savedMs: number;
}

export function draftName(slug: string, dtype: string): string {
  return ofUser(`warmfront.code.${slug}.${dtype}`);
}

/** Parse a stored draft; null if the text is not one. */
export function parseDraft(text: string | null): Draft | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    const { code, savedMs } = value as Partial<Draft>;
    return typeof code === "string" && typeof savedMs === "number" ? { code, savedMs } : null;
  } catch {
    return null;
  }
}

export interface OpenedDraft {
  code: string;
  /** The newer draft of another tab, if it differs. */
  other: string | null;
}

/** Choose the code to open: this tab's draft, else the shared one, else the starter code. */
export function chooseDraft(own: Draft | null, shared: Draft | null, starter: string): OpenedDraft {
  if (own === null) return { code: shared?.code ?? starter, other: null };
  const isOlder = shared !== null && shared.savedMs > own.savedMs && shared.code !== own.code;
  return { code: own.code, other: isOlder ? shared.code : null };
}

export function openDraft(name: string, starter: string): OpenedDraft {
  return chooseDraft(parseDraft(read(name, "tab")), parseDraft(read(name)), starter);
}

/** Save this tab's draft, and also the shared one unless there is an unresolved conflict with another tab. */
export function saveDraft(name: string, code: string, share: boolean): boolean {
  const text = JSON.stringify({ code, savedMs: Date.now() } satisfies Draft);
  const saved = write(name, text, "tab");
  return share ? write(name, text) : saved;
}
