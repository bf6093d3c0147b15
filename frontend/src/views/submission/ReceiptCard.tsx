/** The signed receipt of an accepted submission: its main facts, and the file. */
import type { AcceptedEvent } from "../../lib/generated";
import { download } from "../../lib/download";
import { receiptFacts } from "./receiptFacts";

export function ReceiptCard({ id, accepted }: { id: string; accepted: AcceptedEvent }): React.JSX.Element | null {
  const signed = accepted.signed_receipt;
  if (!signed) return null;
  return (
    <section className="card stack" aria-label="Receipt">
      <div className="row">
        <h2>Receipt</h2>
        <span className="grow" />
        <button className="button" onClick={() => download(`${id}.receipt.json`, "application/json", signed)}>
          Download receipt
        </button>
      </div>
      <dl className="receipt-facts">
        {receiptFacts(accepted).map(([name, value]) => (
          <div key={name}>
            <dt className="dim small">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className="dim small">
        <code>warmfront verify</code> checks the file offline, and computes the time again from its raw measurements.
      </p>
    </section>
  );
}
