/** Types and texts of the red-team board. scripts/generate_red_team.py writes its data. */
export interface Attack {
  name: string;
  summary: string;
  control: string;
  verdicts: string[];
  time_ratio: number | null;
  self_reported_ratio: number | null;
  caught: boolean;
}

export interface Family {
  name: string;
  tries: string;
  first_seen: string[];
  caught: number;
  attacks: Attack[];
}

export interface Board {
  attacks: number;
  caught: number;
  controls: number;
  controls_passed: number;
  families: Family[];
}

export function caughtText(caught: number, all: number): string {
  return `${caught} of ${all}`;
}

/** The time that an attack got and the time that it claimed, relative to its true time. */
export function timeText({ time_ratio, self_reported_ratio }: Attack): string {
  if (time_ratio === null) return "";
  const claim = self_reported_ratio === null ? "" : `; it claimed ${self_reported_ratio.toFixed(2)}`;
  return `${time_ratio.toFixed(2)} of its true time${claim}`;
}
