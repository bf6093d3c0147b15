/** Export a submission as CSV or JSON. */
import type { Timing } from "../../lib/generated";

const COLUMNS = [
  "test_id",
  "case",
  "runtime_ms",
  "ci_low_ms",
  "ci_high_ms",
  "gflops",
  "gbps",
  "pct_of_floor",
  "samples",
  "samples_ms",
  "noisy",
  "windows",
  "discarded_windows",
  "self_reported_ms",
];

const WINDOW_COLUMNS = ["test_id", "case", "window", "calls", "time_ms", "wall_ms", "cpu_ms", "waited_ms", "discarded"];

/** One line per timed case; the samples are in one cell, separated by spaces. */
export function toCsv(timings: readonly Timing[]): string {
  const lines = timings.map((timing) => [
    timing.test_id,
    timing.name,
    timing.runtime_ms,
    timing.ci[0],
    timing.ci[1],
    timing.gflops,
    timing.gbps,
    timing.pct_of_floor ?? null,
    timing.runs.length,
    timing.runs.join(" "),
    String(timing.noisy ?? false),
    timing.windows?.length ?? null,
    timing.discarded_windows ?? null,
    timing.self_reported_ms ?? null,
  ]);
  return csv([COLUMNS, ...lines]);
}

/** One line per window of every timed case, in the order of the measurement. */
export function windowsCsv(timings: readonly Timing[]): string {
  const lines = timings.flatMap(({ test_id, name, windows = [] }) =>
    windows.map((window, index) => [
      test_id,
      name,
      index + 1,
      window.calls,
      window.time_ms,
      window.wall_ms,
      window.cpu_ms ?? null,
      window.waited_ms ?? null,
      String(window.discarded ?? false),
    ]),
  );
  return csv([WINDOW_COLUMNS, ...lines]);
}

function csv(lines: readonly (readonly (string | number | null)[])[]): string {
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

/** Quote a cell as in RFC 4180. An apostrophe prevents spreadsheets from treating text as a formula. */
function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The record, all events and the source, in the API's format. */
export function toJson(submission: unknown, events: readonly unknown[], code: string | null): string {
  return `${JSON.stringify({ submission, events, solution_code: code }, null, 2)}\n`;
}
