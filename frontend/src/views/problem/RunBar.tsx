/** What to run it on, what it will take, and the buttons. */
import { bytes, roughly } from "../../lib/format";
import type { Gpu, Offer } from "../../lib/types";
import { ACTIONS, offerText, standInText, type Action } from "./words";

export const MAX_SOURCE_BYTES = 256 * 1024;

interface Props {
  gpus: readonly Gpu[];
  gpu: string;
  onGpu: (name: string) => void;
  dtypes: readonly string[];
  dtype: string;
  onDtype: (dtype: string) => void;
  offer: Offer | null;
  sourceBytes: number;
  busy: boolean;
  cancelling: boolean;
  onAction: (action: Action) => void;
  onCancel: () => void;
}

export function RunBar(props: Props): React.JSX.Element {
  const { gpus, gpu, offer, busy, sourceBytes } = props;
  const tooLarge = sourceBytes > MAX_SOURCE_BYTES;
  const refusal = offer?.refusal ?? null;
  return (
    <div className="run-bar">
      <div className="row">
        <label className="gpu">
          <span className="hidden">GPU</span>
          <select value={gpu} onChange={(event) => props.onGpu(event.target.value)} disabled={busy}>
            {gpus.map((each) => (
              <option key={each.name} value={each.name} disabled={!each.enabled}>
                {each.enabled ? each.display_name : `${each.display_name}, not offered here`}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="hidden">Type of the elements</span>
          <select value={props.dtype} onChange={(event) => props.onDtype(event.target.value)} disabled={busy}>
            {props.dtypes.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      <div className="row">
        <Buttons {...props} blocked={tooLarge || sourceBytes === 0 || refusal !== null} />
        {offer?.simulated === true && <span className="small dim stand-in">{standInText(offer)}</span>}
      </div>
      <p className="offer" role="status" data-testid="offer">
        {!busy && refusal === null && (offer === null ? "…" : `It will take: ${offerText(offer)}`)}
      </p>
      {refusal !== null && (
        <div className="note warn" role="alert">
          <p>
            <strong>{refusal.code === "BUDGET_EXCEEDED" ? "The budget does not cover a run." : "Not now."}</strong>{" "}
            {refusal.detail}
          </p>
          <p className="dim">{refusal.hint}</p>
        </div>
      )}
      {tooLarge && (
        <p className="note warn" role="alert">
          The source has {bytes(sourceBytes)}; at most {bytes(MAX_SOURCE_BYTES)} is taken. Leave data and generated tables
          out.
        </p>
      )}
    </div>
  );
}

function Buttons({ busy, cancelling, blocked, onAction, onCancel, offer }: Props & { blocked: boolean }): React.JSX.Element {
  if (busy) {
    return (
      <button className="button danger" onClick={onCancel} disabled={cancelling}>
        {cancelling ? "Cancelling…" : "Cancel"}
      </button>
    );
  }
  const wait = offer === null ? "" : `, about ${roughly(offer.total_s)}`;
  return (
    <>
      {(Object.keys(ACTIONS) as Action[]).map((action) => {
        const { name, keys, what } = ACTIONS[action];
        return (
          <button
            key={action}
            className={`button ${action === "submit" ? "primary" : ""}`}
            title={`${what} (${keys})${wait}`}
            aria-keyshortcuts={keys.replace("Ctrl", "Control")}
            disabled={blocked}
            onClick={() => onAction(action)}
          >
            {name}
          </button>
        );
      })}
    </>
  );
}
