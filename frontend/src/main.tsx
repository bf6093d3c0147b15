/** Entry point of the page. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { applyMotion } from "./lib/motion";
import { loadSession } from "./lib/session";
import { applyTheme } from "./lib/theme";
import "./theme.css";
import "./base.css";

applyTheme();
applyMotion();
// Without a response, the page works as the last user of this browser; the connection banner says what is wrong.
// An embedded view has no session: it shows what everyone may see.
if (!location.pathname.startsWith("/embed/")) void loadSession().catch(() => undefined);
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
