/** Hooks shared by several views. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { currentConnection, watchConnection, type Connection } from "./api";
import { read, write } from "./storage";

export interface Query<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  refetch: () => void;
}

/** Fetch once per key, and again every `everyMs` if given. The old data stays until the new response arrives. */
export function useQuery<T>(key: string, fetcher: () => Promise<T>, everyMs?: number): Query<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: Error | null }>({
    key,
    data: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(fetcher);
  useEffect(() => {
    latest.current = fetcher;
  });
  const refetch = useCallback(() => setRound((n) => n + 1), []);
  useEffect(() => {
    let stopped = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        const data = await latest.current();
        if (!stopped) setState({ key, data, error: null });
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!stopped) setState((previous) => ({ key, data: previous.key === key ? previous.data : null, error: failure }));
      }
      if (!stopped && everyMs !== undefined) timer = setTimeout(() => void load(), everyMs);
    };
    void load();
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [key, round, everyMs]);
  const current = state.key === key;
  return {
    data: current ? state.data : null,
    error: current ? state.error : null,
    loading: !current || (state.data === null && state.error === null),
    refetch,
  };
}

export function useConnection(): Connection {
  return useSyncExternalStore(watchConnection, currentConnection);
}

/** The time in ms by the service's clock, updated while `running`. */
export function useNow(running: boolean, everyMs = 250): number {
  const [now, setNow] = useState(() => Date.now());
  const { skewMs } = useConnection();
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [running, everyMs]);
  return now - skewMs;
}

/** Set the title of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Warmfront" : `${title} · Warmfront`;
  }, [title]);
}

/** A value kept in this browser's local storage. */
export function useStored(name: string, initial: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => read(name) ?? initial);
  const store = useCallback(
    (next: string) => {
      setValue(next);
      write(name, next);
    },
    [name],
  );
  return [value, store];
}

/** Whether a media query matches now. */
export function useMediaQuery(query: string): boolean {
  const watch = useCallback(
    (changed: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    [query],
  );
  return useSyncExternalStore(watch, () => matchMedia(query).matches);
}
