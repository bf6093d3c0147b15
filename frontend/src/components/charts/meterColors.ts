/** Colors of the three meters, used by every chart of VM time or cost. */
import type { Meter } from "../../lib/generated";
import type { Color } from "./chartSpec";

export const METER_COLORS: Record<Meter, Color> = {
  PROVISIONING: "light-dark(#c4831c, #e9bb62)",
  WORK: "var(--info)",
  IDLE: "color-mix(in srgb, var(--line-strong) 75%, var(--surface))",
};
