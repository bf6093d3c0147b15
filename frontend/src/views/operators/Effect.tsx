/** What an action saves or costs, shown in its confirmation dialog. */
import { errorText } from "../../components/ConfirmDialog";
import type { ActionsResponse, AuditAction } from "../../lib/generated";
import { useQuery } from "../../lib/hooks";

interface Props {
  action: AuditAction;
  /** Distinguishes this query from others of the same action. */
  name: string;
  effects: () => Promise<ActionsResponse>;
}

export function Effect({ action, name, effects }: Props): React.JSX.Element {
  const { data, error } = useQuery(`effect ${action} ${name}`, effects);
  if (error !== null) {
    return (
      <div className="note bad" role="alert">
        {errorText(error)}
      </div>
    );
  }
  const effect = data?.items.find((item) => item.action === action);
  if (effect === undefined) return <p className="dim">Computing what this saves or costs…</p>;
  return <p data-testid="effect">{effect.text}</p>;
}
