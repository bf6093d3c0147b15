/** API keys: the user's own, or those of all users for operators. List, create and revoke. */
import { useState } from "react";
import type { ApiKeyCreatedResponse, ApiKeyListResponse, ApiKeyResponse, Role } from "../lib/generated";
import { dateTime } from "../lib/format";
import { useQuery } from "../lib/hooks";
import { ROLES, includes, useSession } from "../lib/session";
import { ConfirmDialog, errorText } from "./ConfirmDialog";
import { DataTable, type Column } from "./DataTable";
import { ErrorMessage } from "./MessagePage";
import { SecretField } from "./SecretField";
import "./account.css";

export interface NewKey {
  user: string;
  role: Role;
  team: string | null;
}

/** Where keys come from. */
export interface KeySource {
  name: string;
  /** Whether the keys have different users, which a new one has to name. */
  ofAll: boolean;
  list: () => Promise<ApiKeyListResponse>;
  create: (key: NewKey) => Promise<ApiKeyCreatedResponse>;
  revoke: (id: string) => Promise<unknown>;
}

interface Props {
  source: KeySource;
  description: string;
  /** Called after a change. */
  onChange?: () => void;
}

export function ApiKeys({ source, description, onChange }: Props): React.JSX.Element {
  const { data, error, refetch } = useQuery(`keys ${source.name}`, source.list);
  const [revoking, setRevoking] = useState<ApiKeyResponse | null>(null);
  const [created, setCreated] = useState<ApiKeyCreatedResponse | null>(null);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const active = data?.items.filter((key) => key.revoked_at === null) ?? [];
  const changed = (): void => {
    refetch();
    onChange?.();
  };
  const columns: Column<ApiKeyResponse>[] = [
    ...(source.ofAll ? [{ name: "User", cell: (key: ApiKeyResponse) => key.user }] : []),
    { name: "Key", cell: (key) => <code>{key.id}</code> },
    { name: "Role", cell: (key) => key.role },
    { name: "Team", cell: (key) => key.team ?? "–" },
    { name: "Created", nowrap: true, cell: (key) => dateTime(key.created_at) },
    {
      name: "Actions",
      actions: true,
      cell: (key) => (
        <button className="button small danger" aria-label={`Revoke key ${key.id} of ${key.user}`} onClick={() => setRevoking(key)}>
          Revoke…
        </button>
      ),
    },
  ];
  return (
    <section className="card stack" aria-labelledby="keys-title">
      <h2 id="keys-title">API keys</h2>
      <p className="dim">{description}</p>
      {active.length > 0 && <DataTable label="API keys" columns={columns} rows={active} rowKey={(key) => key.id} />}
      <NewKeyForm
        source={source}
        onCreate={(key) => {
          setCreated(key);
          changed();
        }}
      />
      {created !== null && <SecretField label={`The key of ${created.user}. It is not shown again.`} value={created.secret} />}
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke key ${revoking.id} of ${revoking.user}?`}
          confirm="Revoke key"
          danger
          onConfirm={async () => {
            await source.revoke(revoking.id);
            changed();
          }}
          onClose={() => setRevoking(null)}
        >
          <p>The next request with this key is rejected. Running submissions finish, and are charged as usual.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function NewKeyForm({ source, onCreate }: { source: KeySource; onCreate: (key: ApiKeyCreatedResponse) => void }): React.JSX.Element {
  const own = useSession()?.role ?? null;
  const roles = ROLES.filter((name) => includes(own, name));
  const [user, setUser] = useState("");
  const [team, setTeam] = useState("");
  const [role, setRole] = useState<Role>("author");
  const [failure, setFailure] = useState<string | null>(null);
  const create = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setFailure(null);
    try {
      onCreate(await source.create({ user: user.trim(), role, team: team.trim() === "" ? null : team.trim() }));
      setUser("");
      setTeam("");
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <>
      <form className="fields" onSubmit={(event) => void create(event)} aria-label="New API key">
        {source.ofAll && (
          <label className="field">
            <span>User</span>
            <input required maxLength={64} value={user} onChange={(event) => setUser(event.target.value)} />
          </label>
        )}
        {source.ofAll && (
          <label className="field">
            <span>Team (optional)</span>
            <input maxLength={64} value={team} onChange={(event) => setTeam(event.target.value)} />
          </label>
        )}
        <label className="field">
          <span>Role</span>
          <select value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {roles.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button className="button">Create key</button>
      </form>
      {failure !== null && (
        <div className="note bad" role="alert">
          {failure}
        </div>
      )}
    </>
  );
}
