/** The lanes of the last hours, and their sums in words. */
import { Lanes, short } from "../../parts/figures/Lanes";
import { span } from "../../lib/format";
import type { Operations } from "../../lib/types";
import { Legend } from "./Legend";
import { METER_NAMES, METERS, secondsBy } from "./sums";

const HOUR_MS = 3_600_000;
const CHOICES = [1, 6, 24];
/** The picture moves on by so many pixels or so at a time, not every second. */
const STEPS = 720;

interface Props {
  data: Operations;
  now: number;
  hours: number;
  setHours: (hours: number) => void;
}

export function LastHours({ data, now, hours, setHours }: Props): React.JSX.Element {
  const step = (hours * HOUR_MS) / STEPS;
  const to = Math.max(Date.parse(data.now), Math.floor(now / step) * step);
  return (
    <section className="card stack" aria-labelledby="lanes-title">
      <div className="row">
        <h2 id="lanes-title" className="grow">
          {hours === 1 ? "The last hour" : `The last ${hours} hours`}
        </h2>
        <Legend />
        <div className="row choices" role="group" aria-label="How far back">
          {CHOICES.map((each) => (
            <button key={each} className="button small" aria-pressed={each === hours} onClick={() => setHours(each)}>
              {each} h
            </button>
          ))}
        </div>
      </div>
      {data.lanes.length === 0 ? (
        <p className="dim no-gap">No VM was up in this time.</p>
      ) : (
        <>
          <Lanes lanes={data.lanes} from={to - hours * HOUR_MS} to={to} names={METER_NAMES} />
          <Sums data={data} now={to} />
        </>
      )}
    </section>
  );
}

function Sums({ data, now }: { data: Operations; now: number }): React.JSX.Element {
  return (
    <details>
      <summary>As a table</summary>
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
              const seconds = secondsBy(lane, now);
              return (
                <tr key={lane.vm_id}>
                  <td>
                    <code title={lane.vm_id}>{short(lane.vm_id)}</code>
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
