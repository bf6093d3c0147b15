/** The users who have signed in: their roles, teams and budgets. */
import { useState } from "react";
import { Link } from "wouter";
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { DataTable, type Column } from "../../components/DataTable";
import { ErrorMessage } from "../../components/MessagePage";
import { changeUser, users } from "../../lib/api";
import { dateTime, dollars } from "../../lib/format";
import type { Role, UserRequest, UserResponse } from "../../lib/generated";
import { useQuery } from "../../lib/hooks";
import { ROLES, useSession } from "../../lib/session";
import { TEAM_PATTERN, budgetText, parseBudget } from "./fields";

export function Users({ onChange }: { onChange: () => void }): React.JSX.Element {
  const { data, error, refetch } = useQuery("users", users);
  const own = useSession()?.user ?? null;
  const [changing, setChanging] = useState<UserResponse | null>(null);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const columns: Column<UserResponse>[] = [
    { name: "User", cell: (user) => user.name },
    { name: "Name", cell: (user) => (user.display_name === "" ? "–" : user.display_name) },
    { name: "E-mail", cell: (user) => user.email ?? "–" },
    { name: "Role", cell: (user) => user.role },
    { name: "Team", cell: (user) => <TeamLink user={user} /> },
    { name: "Budget per day", number: true, cell: (user) => dollars(user.daily_budget_usd) },
    { name: "Last sign-in", nowrap: true, cell: (user) => dateTime(user.last_sign_in_at) },
    { name: "State", cell: (user) => <span className={`badge ${user.disabled ? "bad" : "good"}`}>{user.disabled ? "disabled" : "active"}</span> },
    {
      name: "Actions",
      actions: true,
      cell: (user) => (
        <button className="button small" aria-label={`Change ${user.name}`} onClick={() => setChanging(user)}>
          Change…
        </button>
      ),
    },
  ];
  return (
    <section className="card stack" aria-labelledby="users-title">
      <h2 id="users-title">Users</h2>
      {data === null ? <p className="dim">Loading…</p> : <DataTable label="Users" columns={columns} rows={data.items} rowKey={(user) => user.name} />}
      {changing !== null && (
        <ChangeDialog
          user={changing}
          isSelf={changing.name === own}
          onDone={() => {
            refetch();
            onChange();
          }}
          onClose={() => setChanging(null)}
        />
      )}
    </section>
  );
}

function TeamLink({ user }: { user: UserResponse }): React.JSX.Element {
  if (user.team === null) return <>–</>;
  return (
    <>
      <Link href={`/team?name=${encodeURIComponent(user.team)}`}>{user.team}</Link>
      {user.manages_team && " (manager)"}
    </>
  );
}

interface DialogProps {
  user: UserResponse;
  isSelf: boolean;
  onDone: () => void;
  onClose: () => void;
}

function ChangeDialog({ user, isSelf, onDone, onClose }: DialogProps): React.JSX.Element {
  const [role, setRole] = useState<Role>(user.role);
  const [team, setTeam] = useState(user.team ?? "");
  const [managesTeam, setManagesTeam] = useState(user.manages_team);
  const [budget, setBudget] = useState(budgetText(user.daily_budget_usd));
  const [disabled, setDisabled] = useState(user.disabled);
  const request: UserRequest = {
    role,
    team: team.trim() === "" ? null : team.trim(),
    manages_team: managesTeam && team.trim() !== "",
    daily_budget_usd: parseBudget(budget),
    disabled,
  };
  return (
    <ConfirmDialog
      title={`Change ${user.name}`}
      confirm="Save"
      danger={disabled && !user.disabled}
      onConfirm={async () => {
        await changeUser(user.name, request);
        onDone();
      }}
      onClose={onClose}
    >
      <label className="field">
        <span>Role</span>
        <select value={role} disabled={isSelf} onChange={(event) => setRole(event.target.value as Role)}>
          {ROLES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Team (empty for none)</span>
        <input value={team} pattern={TEAM_PATTERN} maxLength={64} onChange={(event) => setTeam(event.target.value)} />
      </label>
      <label className="checkbox">
        <input type="checkbox" checked={managesTeam} disabled={team === ""} onChange={(event) => setManagesTeam(event.target.checked)} />
        Manages the team
      </label>
      <label className="field">
        <span>Dollars per day (empty for the default)</span>
        <input type="number" min="0.01" step="0.01" value={budget} onChange={(event) => setBudget(event.target.value)} />
      </label>
      {!isSelf && (
        <label className="checkbox">
          <input type="checkbox" checked={disabled} onChange={(event) => setDisabled(event.target.checked)} />
          Disabled: sessions end, and keys stop working
        </label>
      )}
      {isSelf && <p className="dim small">You cannot disable yourself or change your own role.</p>}
    </ConfirmDialog>
  );
}
