/** Browser storage. It can be full or blocked: the page works without it, and reports what it could not save. */

export type Scope = "browser" | "tab";

/** Even access to blocked storage throws, so this is called inside `try`. */
function storageOf(scope: Scope): Storage {
  return scope === "browser" ? localStorage : sessionStorage;
}

export function read(name: string, scope: Scope = "browser"): string | null {
  try {
    return storageOf(scope).getItem(name);
  } catch {
    return null;
  }
}

/** Store a value; null removes it. Return whether that worked. */
export function write(name: string, value: string | null, scope: Scope = "browser"): boolean {
  try {
    if (value === null) storageOf(scope).removeItem(name);
    else storageOf(scope).setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
