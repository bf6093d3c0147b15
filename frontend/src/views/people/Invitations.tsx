/** Invitations: create one, whose link is shown once, and see what became of the others. */
import { useState } from "react";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { DataTable, type Column } from "../../components/DataTable";
import { ErrorMessage } from "../../components/MessagePage";
import { SecretField } from "../../components/SecretField";
import { createInvitation, invitations, revokeInvitation } from "../../lib/api";
import { dateTime, dollars } from "../../lib/format";
import type { InvitationCreatedResponse, InvitationResponse, Role } from "../../lib/generated";
import { useQuery } from "../../lib/hooks";
import { ROLES } from "../../lib/session";
import { TEAM_PATTERN, parseBudget } from "./fields";

const BADGES: Record<InvitationResponse["state"], string> = { open: "info", used: "good", revoked: "", expired: "warn" };

export function Invitations(): React.JSX.Element {
  const { data, error, refetch } = useQuery("invitations", invitations);
  const [created, setCreated] = useState<InvitationCreatedResponse | null>(null);
  const [revoking, setRevoking] = useState<InvitationResponse | null>(null);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  const items = data?.items ?? [];
  const columns: Column<InvitationResponse>[] = [
    { name: "For", cell: (item) => item.used_by ?? (item.note === "" ? "–" : item.note) },
    { name: "Role", cell: (item) => item.role },
    { name: "Team", cell: (item) => `${item.team ?? "–"}${item.manages_team ? " (manager)" : ""}` },
    { name: "Budget per day", number: true, cell: (item) => dollars(item.daily_budget_usd) },
    { name: "State", cell: (item) => <span className={`badge ${BADGES[item.state]}`}>{item.state}</span> },
    { name: "Invited by", cell: (item) => item.created_by },
    { name: "Expires", nowrap: true, cell: (item) => (item.state === "open" ? dateTime(item.expires_at) : "–") },
    {
      name: "Actions",
      actions: true,
      cell: (item) =>
        item.state === "open" ? (
          <button className="button small danger" aria-label={`Revoke the invitation for ${item.note}`} onClick={() => setRevoking(item)}>
            Revoke…
          </button>
        ) : null,
    },
  ];
  return (
    <section className="card stack" aria-labelledby="invitations-title">
      <h2 id="invitations-title">Invitations</h2>
      <NewInvitation
        onCreate={(invitation) => {
          setCreated(invitation);
          refetch();
        }}
      />
      {created !== null && (
        <SecretField label={`Send this link. It works once, until ${dateTime(created.expires_at)}, and is not shown again.`} value={created.link} />
      )}
      {items.length > 0 && <DataTable label="Invitations" columns={columns} rows={items} rowKey={(item) => item.id} />}
      {revoking !== null && (
        <ConfirmDialog
          title="Revoke the invitation?"
          confirm="Revoke invitation"
          danger
          onConfirm={async () => {
            await revokeInvitation(revoking.id);
            refetch();
          }}
          onClose={() => setRevoking(null)}
        >
          <p>
            The link with the role {revoking.role}
            {revoking.note === "" ? "" : ` for ${revoking.note}`} no longer works.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function NewInvitation({ onCreate }: { onCreate: (created: InvitationCreatedResponse) => void }): React.JSX.Element {
  const [role, setRole] = useState<Role>("author");
  const [team, setTeam] = useState("");
  const [budget, setBudget] = useState("");
  const [note, setNote] = useState("");
  const [managesTeam, setManagesTeam] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const create = async (event: React.SyntheticEvent): Promise<void> => {
    event.preventDefault();
    setFailure(null);
    try {
      const teamName = team.trim() === "" ? null : team.trim();
      onCreate(
        await createInvitation({
          role,
          note,
          team: teamName,
          manages_team: managesTeam && teamName !== null,
          daily_budget_usd: parseBudget(budget),
        }),
      );
      setNote("");
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <>
      <form className="fields" onSubmit={(event) => void create(event)} aria-label="New invitation">
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
          <input value={team} pattern={TEAM_PATTERN} maxLength={64} onChange={(event) => setTeam(event.target.value)} />
        </label>
        <label className="checkbox">
          <input type="checkbox" checked={managesTeam} disabled={team === ""} onChange={(event) => setManagesTeam(event.target.checked)} />
          Manages the team
        </label>
        <label className="field">
          <span>Dollars per day (optional)</span>
          <input type="number" min="0.01" step="0.01" value={budget} onChange={(event) => setBudget(event.target.value)} />
        </label>
        <label className="field">
          <span>For (optional)</span>
          <input value={note} maxLength={200} placeholder="a name" onChange={(event) => setNote(event.target.value)} />
        </label>
        <button className="button primary">Create invitation</button>
      </form>
      {failure !== null && (
        <div className="note bad" role="alert">
          {failure}
        </div>
      )}
    </>
  );
}
