/** The code that was typed, kept in this browser: for a tab across its reloads, and for the next tab.
 *
 * Two tabs on one problem each keep their own. Where the shared one is changed by the other, its author is asked.
 */
import { read, write } from "../../lib/storage";

export interface Draft {
  code: string;
  savedMs: number;
}

export function draftName(slug: string, dtype: string): string {
  return `warmfront.code.${slug}.${dtype}`;
}

/** Broken or foreign text is no draft. */
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

export interface Opened {
  code: string;
  /** What another tab saved later, where it differs. */
  other: string | null;
}

/** What to begin with: this tab's own, else the shared one, else the starter. */
export function choose(own: Draft | null, shared: Draft | null, starter: string): Opened {
  if (own === null) return { code: shared?.code ?? starter, other: null };
  const isOlder = shared !== null && shared.savedMs > own.savedMs && shared.code !== own.code;
  return { code: own.code, other: isOlder ? shared.code : null };
}

export function openDraft(name: string, starter: string): Opened {
  return choose(parseDraft(read(name, "tab")), parseDraft(read(name)), starter);
}

/** Save for this tab; for others too, unless they have something else that its author was not asked about. */
export function saveDraft(name: string, code: string, withOthers: boolean): boolean {
  const text = JSON.stringify({ code, savedMs: Date.now() } satisfies Draft);
  const kept = write(name, text, "tab");
  return withOthers ? write(name, text) : kept;
}
