/** Hooks that several views need. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { currentLink, watchLink, type Link } from "./api";
import { read, write } from "./storage";

export interface Query<T> {
  data: T | null;
  error: Error | null;
  loading: boolean;
  again: () => void;
}

/** Ask once for each key; what was there stays until the new answer is. With `everyMs` ask again and again. */
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
  const again = useCallback(() => setRound((n) => n + 1), []);
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      try {
        const data = await latest.current();
        if (!over) setState({ key, data, error: null });
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!over) setState((was) => ({ key, data: was.key === key ? was.data : null, error: failure }));
      }
      if (!over && everyMs !== undefined) timer = setTimeout(() => void load(), everyMs);
    };
    void load();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key, round, everyMs]);
  const current = state.key === key;
  return {
    data: current ? state.data : null,
    error: current ? state.error : null,
    loading: !current || (state.data === null && state.error === null),
    again,
  };
}

export function useLink(): Link {
  return useSyncExternalStore(watchLink, currentLink);
}

/** The service's time in ms, moving on while `running`. */
export function useNow(running: boolean, everyMs = 250): number {
  const [now, setNow] = useState(() => Date.now());
  const { skewMs } = useLink();
  useEffect(() => {
    if (!running) return undefined;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [running, everyMs]);
  return now - skewMs;
}

/** The tab's title while the view is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === "" ? "Warmfront" : `${title} · Warmfront`;
  }, [title]);
}

/** A value that survives a reload, on this machine alone. */
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
