/** Users and invitations, for admins. */
import { useState } from "react";
import { ErrorMessage } from "../../components/MessagePage";
import { ApiError, changeUser, createInvitation, invitations, revokeInvitation, users } from "../../lib/api";
import { dateTime, dollars } from "../../lib/format";
import type { InvitationResponse, Role, UserResponse } from "../../lib/generated";
import { useQuery, useTitle } from "../../lib/hooks";
import { useSession } from "../../lib/session";
import "../../components/account.css";

const ROLES: Role[] = ["reader", "author", "operator", "admin"];

export default function People(): React.JSX.Element {
  useTitle("People");
  const everyone = useQuery("users", users);
  const open = useQuery("invitations", invitations);
  const error = everyone.error ?? open.error;
  if (error !== null) return <ErrorMessage error={error} onRetry={() => (everyone.refetch(), open.refetch())} />;
  if (everyone.data === null || open.data === null) return <p className="dim">Loading…</p>;
  return (
    <div className="stack">
      <h1>People</h1>
      <Invite onCreated={open.refetch} />
      <Invitations items={open.data.items} onChange={open.refetch} />
      <Users items={everyone.data.items} onChange={everyone.refetch} />
    </div>
  );
}

function Invite({ onCreated }: { onCreated: () => void }): React.JSX.Element {
  const [role, setRole] = useState<Role>("author");
  const [team, setTeam] = useState("");
  const [budget, setBudget] = useState("");
  const [note, setNote] = useState("");
  const [managesTeam, setManagesTeam] = useState(false);
  const [link, setLink] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const create = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      const created = await createInvitation({
        role,
        note,
        team: team === "" ? null : team,
        manages_team: managesTeam && team !== "",
        daily_budget_usd: budget === "" ? null : Number(budget),
      });
      setLink(created.link);
      onCreated();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
  };
  return (
    <section className="card stack">
      <h2>Invite someone</h2>
      <form className="row" onSubmit={(event) => void create(event)}>
        <label className="field">
          <span>Role</span>
          <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {ROLES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>Team (optional)</span>
          <input value={team} pattern="[A-Za-z0-9][A-Za-z0-9_.@\-]*" maxLength={64} onChange={(event) => setTeam(event.target.value)} />
        </label>
        <label className="field">
          <span>Dollars per day (optional)</span>
          <input type="number" min="0.01" step="0.01" value={budget} onChange={(event) => setBudget(event.target.value)} />
        </label>
        <label className="field">
          <span>For (optional)</span>
          <input value={note} maxLength={200} placeholder="a name" onChange={(event) => setNote(event.target.value)} />
        </label>
        <label className="row">
          <input type="checkbox" checked={managesTeam} disabled={team === ""} onChange={(event) => setManagesTeam(event.target.checked)} />
          Manages the team
        </label>
        <button className="button primary">Create invitation</button>
      </form>
      {error !== null && (
        <p className="note bad" role="alert">
          {error.message} {error instanceof ApiError ? error.body.hint : ""}
        </p>
      )}
      {link !== null && (
        <label className="field">
          <span>Send this link. It works once, for seven days, and is not shown again.</span>
          <input className="secret" readOnly value={link} onFocus={(event) => event.target.select()} />
        </label>
      )}
    </section>
  );
}

const BADGES: Record<InvitationResponse["state"], string> = { open: "info", used: "good", revoked: "", expired: "warn" };

function Invitations({ items, onChange }: { items: InvitationResponse[]; onChange: () => void }): React.JSX.Element | null {
  if (items.length === 0) return null;
  return (
    <section className="card stack">
      <h2>Invitations</h2>
      <div className="scroll" tabIndex={0} role="region" aria-label="Invitations">
        <table>
          <thead>
            <tr>
              <th>For</th>
              <th>Role</th>
              <th>Team</th>
              <th>Budget per day</th>
              <th>State</th>
              <th>Expires</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.id}>
                <td>{item.used_by ?? (item.note === "" ? "–" : item.note)}</td>
                <td>{item.role}</td>
                <td>{item.team ?? "–"}</td>
                <td>{dollars(item.daily_budget_usd)}</td>
                <td>
                  <span className={`badge ${BADGES[item.state]}`}>{item.state}</span>
                </td>
                <td>{dateTime(item.expires_at)}</td>
                <td>
                  {item.state === "open" && (
                    <button className="button danger" onClick={() => void revokeInvitation(item.id).then(onChange)}>
                      Revoke
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Users({ items, onChange }: { items: UserResponse[]; onChange: () => void }): React.JSX.Element {
  const session = useSession();
  const [error, setError] = useState<string | null>(null);
  const change = async (user: UserResponse, changes: Partial<UserResponse>): Promise<void> => {
    setError(null);
    const { role, team, manages_team, daily_budget_usd, disabled } = { ...user, ...changes };
    try {
      await changeUser(user.name, { role, team, manages_team, daily_budget_usd, disabled });
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
    onChange();
  };
  return (
    <section className="card stack">
      <h2>Users</h2>
      {error !== null && (
        <p className="note bad" role="alert">
          {error}
        </p>
      )}
      <div className="scroll" tabIndex={0} role="region" aria-label="Users">
        <table>
          <thead>
            <tr>
              <th>User</th>
              <th>Name</th>
              <th>E-mail</th>
              <th>Role</th>
              <th>Team</th>
              <th>Budget per day</th>
              <th>Last sign-in</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((user) => (
              <tr key={user.name}>
                <td>{user.name}</td>
                <td>{user.display_name === "" ? "–" : user.display_name}</td>
                <td>{user.email ?? "–"}</td>
                <td>
                  <select
                    aria-label={`Role of ${user.name}`}
                    value={user.role}
                    disabled={user.name === session?.user}
                    onChange={(event) => void change(user, { role: event.target.value as Role })}
                  >
                    {ROLES.map((name) => (
                      <option key={name}>{name}</option>
                    ))}
                  </select>
                </td>
                <td>{user.team === null ? "–" : `${user.team}${user.manages_team ? " (manager)" : ""}`}</td>
                <td>{dollars(user.daily_budget_usd)}</td>
                <td>{dateTime(user.last_sign_in_at)}</td>
                <td>
                  {user.name !== session?.user && (
                    <button
                      className={user.disabled ? "button" : "button danger"}
                      onClick={() => void change(user, { disabled: !user.disabled })}
                    >
                      {user.disabled ? "Enable" : "Disable"}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
