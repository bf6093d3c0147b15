/** The color theme: light, dark, or that of the operating system. */
import { read, write } from "./storage";

export type Theme = "system" | "light" | "dark";
const NAME = "warmfront.theme";

export function currentTheme(): Theme {
  const stored = read(NAME);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(theme: Theme = currentTheme()): void {
  if (theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
}

export function setTheme(theme: Theme): void {
  write(NAME, theme === "system" ? null : theme);
  applyTheme(theme);
}

/** The nonce that the Content Security Policy requires of inline styles; CodeMirror adds some. */
export function cspNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
}
