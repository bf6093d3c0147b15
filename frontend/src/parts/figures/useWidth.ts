/** How wide a figure may be: known before the first paint, and followed as the window changes. */
import { useLayoutEffect, useRef, useState, type RefObject } from "react";

export function useWidth<T extends HTMLElement>(first = 600): [RefObject<T | null>, number] {
  const place = useRef<T>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(Math.max(200, Math.floor(element.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
