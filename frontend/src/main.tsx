/** Entry point of the page. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { applyMotion } from "./lib/motion";
import { applyTheme } from "./lib/theme";
import "./theme.css";
import "./base.css";

applyTheme();
applyMotion();
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
