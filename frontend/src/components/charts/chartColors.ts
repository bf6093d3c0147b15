/** Colors for a canvas, which cannot use the CSS variables of the theme. */
import { useSyncExternalStore } from "react";

/** Resolve CSS colors such as `var(--accent)` to their computed values in an element. */
export function resolveColors<K extends string>(element: HTMLElement, colors: Record<K, string>): Record<K, string> {
  const probe = element.appendChild(document.createElement("span"));
  const result = { ...colors };
  for (const name of Object.keys(colors) as K[]) {
    probe.style.color = colors[name];
    result[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return result;
}

const DARK = "(prefers-color-scheme: dark)";

/** A value that changes with the theme of the page. */
export function useThemeKey(): string {
  return useSyncExternalStore(watchTheme, () => `${document.documentElement.dataset.theme ?? "system"} ${matchMedia(DARK).matches}`);
}

function watchTheme(changed: () => void): () => void {
  const list = matchMedia(DARK);
  const observer = new MutationObserver(changed);
  list.addEventListener("change", changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    list.removeEventListener("change", changed);
    observer.disconnect();
  };
}
