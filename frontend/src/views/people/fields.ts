/** What the fields of the forms about people accept. Pure. */

/** Names of teams, as the service accepts them. */
export const TEAM_PATTERN = "[A-Za-z0-9][A-Za-z0-9_.@\\-]*";

/** The number in a field for a budget; null if the field is empty. */
export function parseBudget(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}

export function budgetText(usd: number | null): string {
  return usd === null ? "" : String(usd);
}
