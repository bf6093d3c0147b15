/** Shown while this service is on standby: it can be read from, and takes over when the active service ends. */
import { useEffect, useState } from "react";
import { health, ON_STANDBY } from "../lib/api";

const RETRY_MS = 3000;

export function StandbyBanner(): React.JSX.Element | null {
  const [standby, setStandby] = useState(false);
  useEffect(() => {
    const show = (): void => setStandby(true);
    window.addEventListener(ON_STANDBY, show);
    return () => window.removeEventListener(ON_STANDBY, show);
  }, []);
  useEffect(() => {
    if (!standby) return undefined;
    const ask = (): void => {
      health()
        .then(({ state }) => setStandby(state === "standby"))
        .catch(() => undefined);
    };
    const timer = setInterval(ask, RETRY_MS);
    return () => clearInterval(timer);
  }, [standby]);
  if (!standby) return null;
  return (
    <div className="banner" role="status">
      This service is on standby: you can read everything here, but another address accepts runs. Your code is saved in this
      browser.
    </div>
  );
}
