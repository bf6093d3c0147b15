/** The activity of VMs over the last hours, as a chart and a table. */
import { shortId, VmTimeline } from "../../components/charts/VmTimeline";
import { span } from "../../lib/format";
import type { OperationsResponse } from "../../lib/generated";
import { METER_NAMES, METERS, secondsByMeter } from "./calculations";

const HOUR_MS = 3_600_000;
const CHOICES = [1, 6, 24];
/** The chart advances in this many steps per width, not every second. */
const STEPS = 720;

interface Props {
  data: OperationsResponse;
  now: number;
  hours: number;
  setHours: (hours: number) => void;
}

export function VmHistory({ data, now, hours, setHours }: Props): React.JSX.Element {
  const step = (hours * HOUR_MS) / STEPS;
  const to = Math.max(Date.parse(data.now), Math.floor(now / step) * step);
  return (
    <section className="card stack" aria-labelledby="vm-history-title">
      <div className="row">
        <h2 id="vm-history-title" className="grow">
          {hours === 1 ? "Last hour" : `Last ${hours} hours`}
        </h2>
        <div className="row choices" role="group" aria-label="Time range">
          {CHOICES.map((choice) => (
            <button key={choice} className="button small" aria-pressed={choice === hours} onClick={() => setHours(choice)}>
              {choice} h
            </button>
          ))}
        </div>
      </div>
      {data.lanes.length === 0 ? (
        <p className="dim no-gap">No VM was running in this period.</p>
      ) : (
        <>
          <VmTimeline lanes={data.lanes} from={to - hours * HOUR_MS} to={to} names={METER_NAMES} />
          <TotalsTable data={data} now={to} />
        </>
      )}
    </section>
  );
}

function TotalsTable({ data, now }: { data: OperationsResponse; now: number }): React.JSX.Element {
  return (
    <details>
      <summary>Totals by VM</summary>
      <div className="scroll" tabIndex={0} role="region" aria-label="Time by VM">
        <table>
          <thead>
            <tr>
              <th>VM</th>
              {METERS.map((meter) => (
                <th key={meter} className="number">
                  {METER_NAMES[meter]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.lanes.map((lane) => {
              const seconds = secondsByMeter(lane, now);
              return (
                <tr key={lane.vm_id}>
                  <td>
                    <code title={lane.vm_id}>{shortId(lane.vm_id)}</code>
                  </td>
                  {METERS.map((meter) => (
                    <td key={meter} className="number">
                      {span(seconds[meter])}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </details>
  );
}
