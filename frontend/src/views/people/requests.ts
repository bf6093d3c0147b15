/** The requests of the view of people: keys and teams of all users. */
import { get, post } from "../../lib/api";
import type { KeySource } from "../../components/ApiKeys";
import type { TeamListResponse, TeamSpendingResponse } from "../../lib/generated";

const segment = encodeURIComponent;

export const ALL_KEYS: KeySource = {
  name: "of all users",
  ofAll: true,
  list: () => get("/operators/keys"),
  create: ({ user, role, team }) => post("/operators/keys", { user, role, team }),
  revoke: (id) => post(`/operators/keys/${segment(id)}/revoke`, {}),
};

export const teams = (): Promise<TeamListResponse> => get("/operators/teams");
export const setTeamBudget = (team: string, dailyBudgetUsd: number | null): Promise<TeamSpendingResponse> =>
  post(`/operators/teams/${segment(team)}/budget`, { daily_budget_usd: dailyBudgetUsd });
