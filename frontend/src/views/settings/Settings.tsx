/** What this browser keeps: the key, the colours, the keys of the editor, and whether it may notify. */
import { useState } from "react";
import { currentKey, setKey, wantKey } from "../../lib/api";
import { useStored, useTitle } from "../../lib/hooks";
import { currentTheme, setTheme, type Theme } from "../../lib/theme";

export default function Settings(): React.JSX.Element {
  useTitle("Settings");
  const [vim, setVim] = useStored("warmfront.vim", "no");
  const [theme, changeTheme] = useState(currentTheme);
  return (
    <div className="stack">
      <h1>Settings</h1>
      <p className="dim">All of these are kept in this browser alone.</p>
      <section className="card stack">
        <h2>Appearance</h2>
        <label className="row">
          Colours
          <select
            value={theme}
            onChange={(event) => {
              const next = event.target.value as Theme;
              setTheme(next);
              changeTheme(next);
            }}
          >
            <option value="system">As the system</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <label className="row">
          <input type="checkbox" checked={vim === "yes"} onChange={(event) => setVim(event.target.checked ? "yes" : "no")} />
          Vim keys in the editor
        </label>
      </section>
      <Notifications />
      <ApiKey />
    </div>
  );
}

function Notifications(): React.JSX.Element {
  const known = "Notification" in window;
  const [permission, setPermission] = useState(known ? Notification.permission : "denied");
  const texts: Record<string, string> = {
    granted: "On: a verdict that comes while you look elsewhere is told.",
    denied: "This browser forbids them. Its own settings for this site can change that.",
    default: "Off. The browser will ask you once.",
  };
  return (
    <section className="card stack">
      <h2>Notifications</h2>
      <p>{texts[permission]}</p>
      {permission === "default" && (
        <div>
          <button className="button" onClick={() => void Notification.requestPermission().then(setPermission)}>
            Tell me of verdicts
          </button>
        </div>
      )}
    </section>
  );
}

function ApiKey(): React.JSX.Element {
  const [kept, setKept] = useState(currentKey() !== null);
  const forget = (): void => {
    setKey(null);
    setKept(false);
  };
  return (
    <section className="card stack">
      <h2>API key</h2>
      <p>
        {kept
          ? "One is kept in this browser and sent with every request."
          : "None is kept. A service on this machine without keys needs none."}
      </p>
      <div className="row">
        <button className="button" onClick={() => wantKey("Enter the key to use.")}>
          {kept ? "Change it" : "Enter one"}
        </button>
        {kept && (
          <button className="button danger" onClick={forget}>
            Forget it
          </button>
        )}
      </div>
    </section>
  );
}
