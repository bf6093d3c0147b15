/** What an entry of the audit log changed, in one line. Pure. */
import type { AuditEntryResponse } from "../../lib/generated";

export function changeText({ before, after, detail }: Pick<AuditEntryResponse, "before" | "after" | "detail">): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names
    .map((name) => ({ name, from: valueText(before[name]), to: valueText(after[name]) }))
    .filter(({ from, to }) => from !== to)
    .map(({ name, from, to }) => `${name.replaceAll("_", " ")}: ${from === NONE ? to : `${from} → ${to}`}`);
  return [...changes, ...(detail === "" ? [] : [detail])].join("; ");
}

const NONE = "–";

function valueText(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value);
}
