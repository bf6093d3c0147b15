/** Who is signed in, and signing in and out. */
import { useSyncExternalStore } from "react";
import { currentKey, get, post, request, updateConnection } from "./api";
import type { Role, SessionResponse, SignInResponse } from "./generated";
import { setPageUser, watchOtherTabs } from "./pageUser";

let session: SessionResponse | null = null;
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}

/** The session; null until the service has responded. */
export function useSession(): SessionResponse | null {
  return useSyncExternalStore(watch, () => session);
}

export function currentSession(): SessionResponse | null {
  return session;
}

/** Ask the service who is signed in, and notice when another tab signs in as someone else. */
export async function loadSession(): Promise<void> {
  watchOtherTabs((user) => updateConnection({ userChanged: user }));
  session = await get<SessionResponse>("/session");
  if (session.user !== null) setPageUser(session.user);
  watchers.forEach((watcher) => watcher());
}

/** Begin a sign-in: the browser leaves for the issuer and returns to `returnTo`. Throws if the issuer is unavailable. */
export async function signIn(returnTo: string, invitation: string | null = null): Promise<void> {
  const { url } = await post<SignInResponse>("/session/sign-in", { return_to: returnTo, invitation });
  location.assign(url);
}

/** End the session. Drafts stay in this browser, for the next sign-in of the same user. */
export async function signOut(): Promise<void> {
  await request("/session/sign-out", { method: "POST" });
  location.assign("/sign-in");
}

/** Whether sign-in is set up and this browser does not use an API key instead. */
export function usesSignIn(current: SessionResponse | null): boolean {
  return current !== null && current.sign_in_name !== null && currentKey() === null;
}

/** From fewer to more permissions. */
export const ROLES: readonly Role[] = ["reader", "author", "operator", "admin"];

/** Whether a role has the permissions of another. */
export function includes(role: Role | null | undefined, needed: Role): boolean {
  return role !== null && role !== undefined && ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
