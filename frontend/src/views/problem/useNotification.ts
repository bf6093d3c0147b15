/** Tells of a verdict through the system, if its author allowed that and looks elsewhere. */
import { useEffect, useRef } from "react";
import { currentLink } from "../../lib/api";
import type { Ending } from "../../lib/story";
import { endingText } from "./words";

/** What ended longer ago is no news: it was found again by a reload. */
const NEWS_MS = 15_000;

export function useNotification(problem: string, ending: Ending | null): void {
  const told = useRef<Ending | null>(null);
  useEffect(() => {
    if (ending === null || told.current === ending) return;
    told.current = ending;
    const agoMs = Date.now() - currentLink().skewMs - Date.parse(ending.time);
    if (agoMs > NEWS_MS) return;
    if (!document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    new Notification(endingText(ending), { body: problem, tag: "warmfront" });
  }, [problem, ending]);
}
