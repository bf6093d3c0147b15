/** What surrounds every view: navigation, the banner when the service is away, the question for a key. */
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { ready } from "../lib/api";
import { useLink } from "../lib/hooks";
import { currentTheme, setTheme, type Theme } from "../lib/theme";
import { KeyDialog } from "./KeyDialog";
import icon from "../icon.svg";

const PLACES = [
  { href: "/problems", name: "Problems" },
  { href: "/submissions", name: "Submissions" },
  { href: "/operations", name: "Operations" },
  { href: "/settings", name: "Settings" },
];
const RETRY_MS = 3000;

export function Shell({ children }: { children: ReactNode }): React.JSX.Element {
  const [place] = useLocation();
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [place]);
  const current = place === "/" ? "/problems" : place;
  return (
    <>
      <a className="skip" href="#main">
        To the content
      </a>
      <header className="shell-head">
        <Link href="/" className="shell-name">
          <img src={icon} width="22" height="22" alt="" /> Warmfront
        </Link>
        <nav className="shell-nav" aria-label="Main">
          {PLACES.map(({ href, name }) => (
            <Link key={href} href={href} aria-current={current.startsWith(href) ? "page" : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <ThemeButton />
      </header>
      <AwayBanner />
      <main id="main" className="shell-main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <KeyDialog />
    </>
  );
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<Theme, string> = { system: "As the system", light: "Light", dark: "Dark" };

function ThemeButton(): React.JSX.Element {
  const [theme, set] = useState(currentTheme);
  const change = (): void => {
    setTheme(NEXT[theme]);
    set(NEXT[theme]);
  };
  return (
    <button className="button plain small" onClick={change} aria-label={`Colours: ${NAMES[theme]}. Change.`}>
      <span aria-hidden="true">◐</span> {NAMES[theme]}
    </button>
  );
}

/** Shown while the service does not answer; asks again by itself. */
function AwayBanner(): React.JSX.Element | null {
  const { away } = useLink();
  useEffect(() => {
    if (!away) return undefined;
    const timer = setInterval(() => void ready().catch(() => undefined), RETRY_MS);
    return () => clearInterval(timer);
  }, [away]);
  if (!away) return null;
  return (
    <div className="banner" role="status">
      <span className="grow">
        The service does not answer. What you typed is kept; trying again every {RETRY_MS / 1000} s.
      </span>
      <button className="button" onClick={() => void ready().catch(() => undefined)}>
        Try now
      </button>
    </div>
  );
}
