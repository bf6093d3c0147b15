/** The frame around every view: navigation, the connection banner, the key dialog. */
import { useEffect, useRef, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { ready } from "../lib/api";
import { useConnection } from "../lib/hooks";
import { pageUser } from "../lib/pageUser";
import { useSession, usesSignIn } from "../lib/session";
import { currentTheme, setTheme, type Theme } from "../lib/theme";
import { AccountMenu } from "./AccountMenu";
import { KeyDialog } from "./KeyDialog";
import { SignInButton } from "./SignInButton";
import { StandbyBanner } from "./StandbyBanner";
import icon from "../icon.svg";

const NAVIGATION = [
  { href: "/problems", name: "Problems" },
  { href: "/submissions", name: "Submissions" },
  { href: "/operations", name: "Operations" },
  { href: "/settings", name: "Settings" },
];
const RETRY_MS = 3000;

export function Shell({ children }: { children: ReactNode }): React.JSX.Element {
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [path]);
  const current = path === "/" ? "/problems" : path;
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="shell-head">
        <Link href="/" className="shell-name">
          <img src={icon} width="22" height="22" alt="" /> Warmfront
        </Link>
        <nav className="shell-nav" aria-label="Main">
          {NAVIGATION.map(({ href, name }) => (
            <Link key={href} href={href} aria-current={current.startsWith(href) ? "page" : undefined}>
              {name}
            </Link>
          ))}
          <a href="/docs/">Docs</a>
        </nav>
        <AccountMenu />
        <ThemeButton />
      </header>
      <ConnectionBanner />
      <UserChangedBanner />
      <SessionEndedBanner />
      <StandbyBanner />
      <main id="main" className="shell-main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <footer className="shell-foot dim small">
        <Link href="/shared">Shared results</Link> · <Link href="/red-team">Red-team board</Link>
      </footer>
      <KeyDialog />
    </>
  );
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };

function ThemeButton(): React.JSX.Element {
  const [theme, set] = useState(currentTheme);
  const change = (): void => {
    setTheme(NEXT[theme]);
    set(NEXT[theme]);
  };
  return (
    <button className="button plain small" onClick={change} aria-label={`Theme: ${NAMES[theme]}. Change theme.`}>
      <span aria-hidden="true">◐</span> {NAMES[theme]}
    </button>
  );
}

/** Shown while the service is unreachable; retries on its own. */
function ConnectionBanner(): React.JSX.Element | null {
  const { unreachable } = useConnection();
  useEffect(() => {
    if (!unreachable) return undefined;
    const timer = setInterval(() => void ready().catch(() => undefined), RETRY_MS);
    return () => clearInterval(timer);
  }, [unreachable]);
  if (!unreachable) return null;
  return (
    <div className="banner" role="status">
      <span className="grow">
        The service is unreachable. Your code is saved in this browser. Retrying every {RETRY_MS / 1000} s.
      </span>
      <button className="button" onClick={() => void ready().catch(() => undefined)}>
        Retry now
      </button>
    </div>
  );
}

/** Shown when the session ends on an open page, unless another user's has begun. It is not a dialog: the author may be typing. */
function SessionEndedBanner(): React.JSX.Element | null {
  const { keyPrompt, userChanged } = useConnection();
  const session = useSession();
  const user = pageUser();
  if (keyPrompt === null || userChanged !== null || user === null || !usesSignIn(session)) return null;
  return (
    <div className="banner" role="alert">
      <span className="grow">
        Your session has ended. Your code is saved in this browser. Sign in as {user} to continue.
      </span>
      <SignInButton />
    </div>
  );
}

/** Shown when someone else signs in in another tab: this page does not act for them. */
function UserChangedBanner(): React.JSX.Element | null {
  const { userChanged } = useConnection();
  if (userChanged === null) return null;
  return (
    <div className="banner" role="alert">
      <span className="grow">{userChanged} signed in from another tab. Your code is saved for you in this browser.</span>
      <button className="button" onClick={() => location.reload()}>
        Continue as the new user
      </button>
    </div>
  );
}
