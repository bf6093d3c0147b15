/** What this browser keeps. It can be full or forbidden: the page works without, and says what it could not keep. */

export type Shelf = "machine" | "tab";

/** Even to ask for a forbidden one throws. */
function shelf(which: Shelf): Storage {
  return which === "machine" ? localStorage : sessionStorage;
}

export function read(name: string, which: Shelf = "machine"): string | null {
  try {
    return shelf(which).getItem(name);
  } catch {
    return null;
  }
}

/** Keep it, or forget it with null. False where it could not be kept. */
export function write(name: string, value: string | null, which: Shelf = "machine"): boolean {
  try {
    if (value === null) shelf(which).removeItem(name);
    else shelf(which).setItem(name, value);
    return true;
  } catch {
    return false;
  }
}
