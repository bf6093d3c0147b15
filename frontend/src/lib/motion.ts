/** Motion: as set in the operating system, or reduced. */
import { read, write } from "./storage";

export type Motion = "system" | "reduced";
const NAME = "warmfront.motion";

export function currentMotion(): Motion {
  return read(NAME) === "reduced" ? "reduced" : "system";
}

export function applyMotion(motion: Motion = currentMotion()): void {
  if (motion === "system") document.documentElement.removeAttribute("data-motion");
  else document.documentElement.setAttribute("data-motion", motion);
}

export function setMotion(motion: Motion): void {
  write(NAME, motion === "system" ? null : motion);
  applyMotion(motion);
}
