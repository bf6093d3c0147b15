/** GPU and dtype, the run buttons, and the quote. */
import { bytes, roughly } from "../../lib/format";
import type { GpuResponse, QuoteResponse } from "../../lib/generated";
import { ACTIONS, type Action } from "./actions";
import { quoteText, simulationText } from "./runText";

export const MAX_SOURCE_BYTES = 256 * 1024;

interface Props {
  gpus: readonly GpuResponse[];
  gpu: string;
  onGpu: (name: string) => void;
  dtypes: readonly string[];
  dtype: string;
  onDtype: (dtype: string) => void;
  quote: QuoteResponse | null;
  sourceBytes: number;
  busy: boolean;
  cancelling: boolean;
  onAction: (action: Action) => void;
  onCancel: () => void;
}

export function RunBar(props: Props): React.JSX.Element {
  const { gpus, gpu, quote, busy, sourceBytes } = props;
  const tooLarge = sourceBytes > MAX_SOURCE_BYTES;
  const refusal = quote?.refusal ?? null;
  return (
    <div className="run-bar">
      <div className="row">
        <label className="gpu">
          <span className="hidden">GPU</span>
          <select value={gpu} onChange={(event) => props.onGpu(event.target.value)} disabled={busy}>
            {gpus.map(({ name, display_name: title, enabled }) => (
              <option key={name} value={name} disabled={!enabled} title={title}>
                {enabled ? name : `${name}, not available`}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span className="hidden">dtype</span>
          <select value={props.dtype} onChange={(event) => props.onDtype(event.target.value)} disabled={busy}>
            {props.dtypes.map((dtype) => (
              <option key={dtype}>{dtype}</option>
            ))}
          </select>
        </label>
        <span className="row buttons">
          <Buttons {...props} blocked={tooLarge || sourceBytes === 0 || refusal !== null} />
        </span>
      </div>
      <div className="row small">
        <p className="quote" role="status" data-testid="quote">
          {!busy && refusal === null && (quote === null ? "…" : `Estimate: ${quoteText(quote)}`)}
        </p>
        {quote?.simulated === true && <span className="dim simulation">{simulationText(quote)}</span>}
      </div>
      {refusal !== null && (
        <div className="note warn" role="alert">
          <p>
            <strong>{refusal.code === "BUDGET_EXCEEDED" ? "The budget does not cover a run." : "Submissions are not accepted now."}</strong>{" "}
            {refusal.detail}
          </p>
          <p className="dim">{refusal.hint}</p>
        </div>
      )}
      {tooLarge && (
        <p className="note warn" role="alert">
          The source is {bytes(sourceBytes)}; the limit is {bytes(MAX_SOURCE_BYTES)}. Remove embedded data and
          generated tables.
        </p>
      )}
    </div>
  );
}

function Buttons({ busy, cancelling, blocked, onAction, onCancel, quote }: Props & { blocked: boolean }): React.JSX.Element {
  if (busy) {
    return (
      <button className="button danger" onClick={onCancel} disabled={cancelling}>
        {cancelling ? "Cancelling…" : "Cancel"}
      </button>
    );
  }
  const wait = quote === null ? "" : `, about ${roughly(quote.total_s)}`;
  return (
    <>
      {(Object.keys(ACTIONS) as Action[]).map((action) => {
        const { name, keys, description } = ACTIONS[action];
        return (
          <button
            key={action}
            className={`button ${action === "submit" ? "primary" : ""}`}
            title={`${description} (${keys})${wait}`}
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
