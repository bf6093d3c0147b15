/** Asks before an operator cancels another user's submission, and says what that saves. */
import { ConfirmDialog } from "../../components/ConfirmDialog";
import { cancel } from "../../lib/api";
import { Effect } from "./Effect";
import { cancelActions } from "./requests";

interface Props {
  id: string;
  /** Whose submission it is. */
  owner: string;
  onDone: () => void;
  onClose: () => void;
}

export function CancelDialog({ id, owner, onDone, onClose }: Props): React.JSX.Element {
  return (
    <ConfirmDialog
      title={`Cancel the submission of ${owner}?`}
      confirm="Cancel submission"
      dismiss="Keep it"
      danger
      onConfirm={async () => {
        await cancel(id);
        onDone();
      }}
      onClose={onClose}
    >
      <Effect action="submission.cancel" name={id} effects={() => cancelActions(id)} />
      <p className="small dim">Its author sees the verdict “Cancelled”. The audit log says who cancelled it.</p>
    </ConfirmDialog>
  );
}
