/** The user who opened this page. Tabs share the session, but each tab keeps the user it was opened by. */
import { read, write } from "./storage";

const NAME = "warmfront.user";
/** The user of a service without keys and sign-in. */
export const LOCAL_USER = "local";

/** Null until the service has reported who is signed in. */
let opener: string | null = null;

export function pageUser(): string | null {
  return opener;
}

/** The user of this page or, before the service has responded or after the session has ended, the last one in this browser. */
export function lastUser(): string {
  return opener ?? read(NAME) ?? LOCAL_USER;
}

/** Remember who opened this page; the first call decides. */
export function setPageUser(user: string): void {
  opener ??= user;
  write(NAME, user);
}

/** Name a value in the browser's storage that belongs to the user, such as a draft. */
export function ofUser(name: string, user = lastUser()): string {
  return user === LOCAL_USER ? name : `${name}@${user}`;
}

/** Call `changed` with the user who has signed in in another tab of this browser. */
export function watchOtherTabs(changed: (user: string) => void): () => void {
  const onStorage = (event: StorageEvent): void => {
    if (event.key === NAME && event.newValue !== null && opener !== null && event.newValue !== opener) changed(event.newValue);
  };
  window.addEventListener("storage", onStorage);
  return () => window.removeEventListener("storage", onStorage);
}
