/** The API keys of all users: list, create and revoke. */
import { useState } from "react";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { ErrorMessage } from "../../components/MessagePage";
import { dateTime } from "../../lib/format";
import { useQuery } from "../../lib/hooks";
import type { ManagedKeyCreatedResponse, ManagedKeyResponse, Role } from "../../lib/generated";
import { createKey, managedKeys, revokeKey } from "./requests";

export function Keys({ round, onChange }: { round: number; onChange: () => void }): React.JSX.Element {
  const { data, error, refetch } = useQuery(`keys ${round}`, managedKeys);
  const [revoking, setRevoking] = useState<ManagedKeyResponse | null>(null);
  const [created, setCreated] = useState<ManagedKeyCreatedResponse | null>(null);
  if (error !== null) return <ErrorMessage error={error} onRetry={refetch} />;
  const active = data?.items.filter((key) => key.revoked_at === null) ?? [];
  return (
    <section className="card stack" aria-labelledby="keys-title">
      <h2 id="keys-title">API keys</h2>
      {active.length === 0 ? (
        <p className="dim">There are no keys. After the first one is created, every request needs a key, even on this machine.</p>
      ) : (
        <div className="scroll" tabIndex={0} role="region" aria-label="All API keys">
          <table>
            <thead>
              <tr>
                <th>User</th>
                <th>Role</th>
                <th>Team</th>
                <th>Created</th>
                <th>
                  <span className="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {active.map((key) => (
                <tr key={key.id}>
                  <td title={key.id}>{key.user}</td>
                  <td>{key.role}</td>
                  <td>{key.team ?? "–"}</td>
                  <td>{dateTime(key.created_at)}</td>
                  <td>
                    <button className="button small danger" onClick={() => setRevoking(key)} aria-label={`Revoke the key of ${key.user}`}>
                      Revoke…
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <NewKey
        onCreate={(key) => {
          setCreated(key);
          onChange();
        }}
      />
      {created !== null && (
        <div className="note good">
          <p>
            The key of {created.user}. It is not shown again: <code className="operators-secret">{created.secret}</code>
          </p>
        </div>
      )}
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke the key of ${revoking.user}?`}
          confirm="Revoke key"
          danger
          onConfirm={async () => {
            await revokeKey(revoking.id);
            onChange();
          }}
          onClose={() => setRevoking(null)}
        >
          <p>The next request with it is rejected. Running submissions finish, and cost what they were quoted.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

const ROLES: readonly Role[] = ["author", "reader", "operator", "admin"];

function NewKey({ onCreate }: { onCreate: (key: ManagedKeyCreatedResponse) => void }): React.JSX.Element {
  const [user, setUser] = useState("");
  const [team, setTeam] = useState("");
  const [role, setRole] = useState<string>(ROLES[0] ?? "");
  const [failure, setFailure] = useState<string | null>(null);
  const create = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setFailure(null);
    try {
      onCreate(await createKey(user.trim(), role, team.trim()));
      setUser("");
      setTeam("");
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <form className="row" onSubmit={create} aria-label="New API key">
      <input aria-label="User" placeholder="User" required maxLength={64} value={user} onChange={(event) => setUser(event.target.value)} />
      <input aria-label="Team" placeholder="Team (optional)" maxLength={64} value={team} onChange={(event) => setTeam(event.target.value)} />
      <select aria-label="Role" value={role} onChange={(event) => setRole(event.target.value)}>
        {ROLES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <button className="button">Create key</button>
      {failure !== null && (
        <p className="operators-line" role="alert">
          {failure}
        </p>
      )}
    </form>
  );
}
