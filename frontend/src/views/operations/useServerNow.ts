/** The time in ms by the service's clock, updated periodically. */
import { useEffect, useState } from "react";

export function useServerNow(offsetMs: number, everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now + offsetMs;
}
