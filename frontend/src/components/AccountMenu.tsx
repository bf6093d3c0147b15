/** The menu of the user: account, people and team, and sign-out. */
import { useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { includes, signOut, useSession } from "../lib/session";
import "./account.css";

export function AccountMenu(): React.JSX.Element | null {
  const session = useSession();
  const menu = useRef<HTMLDetailsElement>(null);
  const [path] = useLocation();
  const close = (): void => menu.current?.removeAttribute("open");
  useEffect(close, [path]);
  useEffect(() => {
    const onPointer = (event: PointerEvent): void => {
      if (event.target instanceof Node && menu.current?.contains(event.target) === false) close();
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || menu.current?.open !== true) return;
      close();
      menu.current.querySelector("summary")?.focus();
    };
    window.addEventListener("pointerdown", onPointer);
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("pointerdown", onPointer);
      window.removeEventListener("keydown", onKey);
    };
  }, []);
  if (session === null) return null;
  if (session.user === null) {
    if (session.sign_in_name === null) return null;
    return (
      <Link className="button small" href="/sign-in">
        Sign in
      </Link>
    );
  }
  return (
    <details className="account-menu" ref={menu}>
      <summary className="button plain small" aria-label={`Account: ${session.user}`}>
        <span aria-hidden="true">●</span> {session.user}
      </summary>
      <div className="account-items">
        <p className="dim small">
          {session.display_name === "" ? session.user : session.display_name}
          <br />
          Role: {session.role}
          {session.team !== null && <>, team {session.team}</>}
        </p>
        <Link href="/account">Account</Link>
        {session.team !== null && <Link href="/team">Team {session.team}</Link>}
        {includes(session.role, "operator") && (
          <>
            <Link href="/people">People</Link>
            <Link href="/operators">Operators</Link>
          </>
        )}
        {session.authentication === "session" && (
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
    </details>
  );
}
