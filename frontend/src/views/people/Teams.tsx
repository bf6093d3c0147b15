/** The teams with what each has spent today, and its daily budget. */
import { useState } from "react";
import { Link } from "wouter";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { DataTable, type Column } from "../../components/DataTable";
import { ErrorMessage } from "../../components/MessagePage";
import { dollars, wholeCents } from "../../lib/format";
import type { TeamSpendingResponse } from "../../lib/generated";
import { useQuery } from "../../lib/hooks";
import { budgetText, parseBudget } from "./fields";
import { setTeamBudget, teams } from "./requests";

const REFRESH_MS = 30_000;

export function Teams({ round, isAdmin }: { round: number; isAdmin: boolean }): React.JSX.Element {
  const { data, error, refetch } = useQuery(`teams ${round}`, teams, REFRESH_MS);
  const [changing, setChanging] = useState<TeamSpendingResponse | null>(null);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const items = data?.items ?? [];
  const columns: Column<TeamSpendingResponse>[] = [
    {
      name: "Team",
      cell: ({ team, members }) => (members.length === 0 ? team : <Link href={`/team?name=${encodeURIComponent(team)}`}>{team}</Link>),
    },
    { name: "Members", cell: ({ members }) => (members.length === 0 ? "–" : members.join(", ")) },
    { name: "Spent today", number: true, cell: (team) => dollars(team.spent_usd) },
    { name: "Expected", number: true, cell: (team) => dollars(team.expected_usd) },
    { name: "Budget per day", number: true, cell: budgetCell },
    ...(isAdmin
      ? [
          {
            name: "Actions",
            actions: true,
            cell: (team: TeamSpendingResponse) => (
              <button className="button small" aria-label={`Change the budget of ${team.team}`} onClick={() => setChanging(team)}>
                Change…
              </button>
            ),
          },
        ]
      : []),
  ];
  return (
    <section className="card stack" aria-labelledby="teams-title">
      <h2 id="teams-title">Teams</h2>
      <p className="dim">
        A team begins with its first member or key. Its budget limits the daily spending (UTC) of all members together; the default is one of the limits on the{" "}
        <Link href="/operators">Operators</Link> page.
      </p>
      {items.length > 0 && <DataTable label="Teams" columns={columns} rows={items} rowKey={({ team }) => team} />}
      {changing !== null && <BudgetDialog team={changing} onDone={refetch} onClose={() => setChanging(null)} />}
    </section>
  );
}

function budgetCell(team: TeamSpendingResponse): string {
  if (team.limit_usd === null) return "no limit";
  return team.budget_usd === null ? `${dollars(team.limit_usd)} (default)` : dollars(team.limit_usd);
}

function BudgetDialog({ team, onDone, onClose }: { team: TeamSpendingResponse; onDone: () => void; onClose: () => void }): React.JSX.Element {
  const [budget, setBudget] = useState(budgetText(team.budget_usd));
  const amount = parseBudget(budget);
  const used = team.spent_usd + team.expected_usd;
  return (
    <ConfirmDialog
      title={`Budget of team ${team.team}`}
      confirm="Save"
      onConfirm={async () => {
        await setTeamBudget(team.team, amount);
        onDone();
      }}
      onClose={onClose}
    >
      <label className="field">
        <span>Dollars per day for all members together (empty for the default)</span>
        <input type="number" min="0.01" step="0.01" value={budget} onChange={(event) => setBudget(event.target.value)} />
      </label>
      <p data-testid="effect">
        {amount === null
          ? "The default applies, which operators set."
          : amount <= used
            ? `The team has spent ${dollars(team.spent_usd)} today: new submissions are refused until midnight UTC, and waiting ones are not started.`
            : `The team can spend up to ${dollars(wholeCents(amount - used))} more today.`}
      </p>
    </ConfirmDialog>
  );
}
