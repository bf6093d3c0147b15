/** Settings stored in this browser: theme, motion, Vim keys, notifications and the API key. */
import { useState } from "react";
import { currentKey, setKey, promptForKey } from "../../lib/api";
import { useStored, useTitle } from "../../lib/hooks";
import { currentMotion, setMotion, type Motion } from "../../lib/motion";
import { currentTheme, setTheme, type Theme } from "../../lib/theme";

export default function Settings(): React.JSX.Element {
  useTitle("Settings");
  const [vim, setVim] = useStored("warmfront.vim", "no");
  const [theme, changeTheme] = useState(currentTheme);
  const [motion, changeMotion] = useState(currentMotion);
  return (
    <div className="stack">
      <h1>Settings</h1>
      <p className="dim">Settings are stored in this browser only.</p>
      <section className="card stack">
        <h2>Appearance</h2>
        <label className="row">
          Theme
          <select
            value={theme}
            onChange={(event) => {
              const next = event.target.value as Theme;
              setTheme(next);
              changeTheme(next);
            }}
          >
            <option value="system">System</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <label className="row">
          Motion
          <select
            value={motion}
            onChange={(event) => {
              const next = event.target.value as Motion;
              setMotion(next);
              changeMotion(next);
            }}
          >
            <option value="system">System</option>
            <option value="reduced">Reduced</option>
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
  const supported = "Notification" in window;
  const [permission, setPermission] = useState(supported ? Notification.permission : "denied");
  const texts: Record<string, string> = {
    granted: "On. You are notified of a verdict when this tab is in the background.",
    denied: "Blocked by the browser. You can allow notifications in its settings for this site.",
    default: "Off. The browser will ask for permission.",
  };
  return (
    <section className="card stack">
      <h2>Notifications</h2>
      <p>{texts[permission]}</p>
      {permission === "default" && (
        <div>
          <button className="button" onClick={() => void Notification.requestPermission().then(setPermission)}>
            Enable notifications
          </button>
        </div>
      )}
    </section>
  );
}

function ApiKey(): React.JSX.Element {
  const [hasKey, setHasKey] = useState(currentKey() !== null);
  const removeKey = (): void => {
    setKey(null);
    setHasKey(false);
  };
  return (
    <section className="card stack">
      <h2>API key</h2>
      <p>
        {hasKey
          ? "A key is stored in this browser and sent with every request."
          : "No key is stored. A local service that has no keys does not need one."}
      </p>
      <div className="row">
        <button className="button" onClick={() => promptForKey("Enter an API key.")}>
          {hasKey ? "Change key" : "Enter key"}
        </button>
        {hasKey && (
          <button className="button danger" onClick={removeKey}>
            Remove key
          </button>
        )}
      </div>
    </section>
  );
}
