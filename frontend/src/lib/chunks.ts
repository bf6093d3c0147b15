/** Parts of the page that come when they are needed. One that does not come is no dead end: the page loads anew. */
import { Away, ready } from "./api";
import { read, write } from "./storage";

const AGAIN_MS = 2000;
/** A page that fails right after it was loaded anew would do so for ever. */
const TOO_SOON_MS = 20_000;
const RELOADED = "warmfront.reloaded";

/** Where the service is away, wait for it. Where it has another build by now, this one's parts are gone. */
export function chunk<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await load();
    } catch (error) {
      await answer();
      if (Date.now() - Number(read(RELOADED, "tab")) < TOO_SOON_MS) throw error;
      // Without a note of it there is no telling whether it helped.
      if (!write(RELOADED, String(Date.now()), "tab")) throw error;
      location.reload(); // what was typed is kept, and so is the address
      return await new Promise<never>(() => undefined);
    }
  };
}

/** Until the service says anything at all; the shell tells that it is away. */
async function answer(): Promise<void> {
  for (;;) {
    try {
      await ready();
      return;
    } catch (error) {
      if (!(error instanceof Away)) return;
    }
    await new Promise((done) => setTimeout(done, AGAIN_MS));
  }
}
