/** Import code on demand, and recover when a chunk cannot be loaded by reloading the page. */
import { ready, ServiceUnreachable } from "./api";
import { read, write } from "./storage";

const RETRY_MS = 2000;
/** A chunk that fails again this soon after a reload would fail forever, so the error is shown instead. */
const RELOAD_GUARD_MS = 20_000;
const RELOADED_AT = "warmfront.reloaded";

/**
 * Wrap a dynamic import. If it fails, wait until the service is reachable, then reload the page once: a new
 * build of the page has other chunk names.
 */
export function lazyImport<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await load();
    } catch (error) {
      await waitForService();
      if (Date.now() - Number(read(RELOADED_AT, "tab")) < RELOAD_GUARD_MS) throw error;
      // Without storage there is no way to tell whether the reload helped.
      if (!write(RELOADED_AT, String(Date.now()), "tab")) throw error;
      location.reload(); // the draft and the address survive this
      return await new Promise<never>(() => undefined);
    }
  };
}

/** Wait for any response of the service. The shell shows the banner meanwhile. */
async function waitForService(): Promise<void> {
  for (;;) {
    try {
      await ready();
      return;
    } catch (error) {
      if (!(error instanceof ServiceUnreachable)) return;
    }
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}
