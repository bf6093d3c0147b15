/** The limits that can be changed at run time. A restart of the service keeps the changes. */
import { useEffect, useState } from "react";
import { ConfirmDialog, errorText } from "../../components/ConfirmDialog";
import { DataTable } from "../../components/DataTable";
import { ErrorMessage } from "../../components/MessagePage";
import { whatIf } from "../../lib/api";
import { useQuery } from "../../lib/hooks";
import type { LimitResponse } from "../../lib/generated";
import { whatIfText } from "../operations/whatIfSummary";
import { changeLimit, limits } from "./requests";
import { LIMIT_CHOICES, LIMIT_NAMES } from "./limitNames";

interface Change {
  limit: LimitResponse;
  /** Null restores the configured value. */
  value: string | null;
}

export function Limits({ round, onChange }: { round: number; onChange: () => void }): React.JSX.Element {
  const { data, error, refetch } = useQuery("limits", limits);
  const [change, setChange] = useState<Change | null>(null);
  // With a new key, the table would disappear while it loads, and with it any text being typed.
  useEffect(() => {
    refetch();
  }, [round, refetch]);
  if (error !== null && data === null) return <ErrorMessage error={error} onRetry={refetch} />;
  return (
    <section className="card stack" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits</h2>
      {data === null ? (
        <p className="dim">Loading…</p>
      ) : (
        <DataTable
          label="All limits"
          columns={[
            { name: "Limit", unlabeled: true, cell: (limit) => <LimitName limit={limit} /> },
            { name: "Value", unlabeled: true, cell: (limit) => <LimitForm key={limit.value} limit={limit} onSave={(value) => setChange({ limit, value })} /> },
          ]}
          rows={data.items}
          rowKey={({ name }) => name}
        />
      )}
      {change !== null && <ChangeDialog {...change} onDone={onChange} onClose={() => setChange(null)} />}
    </section>
  );
}

function LimitName({ limit }: { limit: LimitResponse }): React.JSX.Element {
  return (
    <>
      {LIMIT_NAMES[limit.name] ?? limit.name} {limit.changed && <span className="badge info">Changed</span>}
      <div className="small dim operators-setting">
        <code>{limit.variable}</code> = {limit.configured}
      </div>
    </>
  );
}

function LimitForm({ limit, onSave }: { limit: LimitResponse; onSave: (value: string | null) => void }): React.JSX.Element {
  const [value, setValue] = useState(limit.value);
  const label = LIMIT_NAMES[limit.name] ?? limit.name;
  const choices = LIMIT_CHOICES[limit.name];
  return (
    <form
      className="row operators-actions"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(value.trim());
      }}
    >
      {choices === undefined ? (
        <input
          className="operators-value"
          aria-label={label}
          value={value}
          title={`Allowed: ${limit.allowed}`}
          onChange={(event) => setValue(event.target.value)}
        />
      ) : (
        <select className="operators-value" aria-label={label} value={value} onChange={(event) => setValue(event.target.value)}>
          {choices.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <button className="button small" disabled={value.trim() === limit.value || value.trim() === ""}>
        Change…
      </button>
      {limit.changed && (
        <button type="button" className="button small" onClick={() => onSave(null)} aria-label={`Reset ${label}`}>
          Reset…
        </button>
      )}
    </form>
  );
}

/** What this month would have cost with each keep-warm policy. */
function PolicyCosts(): React.JSX.Element {
  const { data, error } = useQuery("what-if", whatIf);
  if (error !== null) return <p className="small dim">{errorText(error)}</p>;
  if (data === null) return <p className="small dim">Replaying this month’s submissions with both policies…</p>;
  if (data.items.length === 0) return <p className="small dim">No submission needed a VM this month, so there is nothing to compare.</p>;
  return (
    <p data-testid="policy-costs">
      {whatIfText(data)} {data.adaptive}
    </p>
  );
}

function ChangeDialog({ limit, value, onDone, onClose }: Change & { onDone: () => void; onClose: () => void }): React.JSX.Element {
  const [reason, setReason] = useState("");
  const { data, error } = useQuery(`preview ${limit.name} ${value}`, () => changeLimit(limit.name, value, "", true));
  const effect = data?.effects[0];
  return (
    <ConfirmDialog
      title={`${LIMIT_NAMES[limit.name] ?? limit.name}: ${value ?? limit.configured}?`}
      confirm="Change limit"
      ready={effect !== undefined}
      onConfirm={async () => {
        await changeLimit(limit.name, value, reason.trim(), false);
        onDone();
      }}
      onClose={onClose}
    >
      {effect !== undefined && <p data-testid="effect">{effect.text}</p>}
      {limit.name === "keep_warm" && <PolicyCosts />}
      {effect === undefined && error === null && <p className="dim">Computing what this saves or costs…</p>}
      {error !== null && (
        <div className="note bad" role="alert">
          {errorText(error)}
        </div>
      )}
      <label className="stack">
        <span>Reason, for the audit log</span>
        <input value={reason} maxLength={300} onChange={(event) => setReason(event.target.value)} />
      </label>
    </ConfirmDialog>
  );
}
