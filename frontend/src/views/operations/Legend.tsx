/** What the colours of VM time mean. */
import { METER_NAMES, METERS } from "./sums";

export function Legend(): React.JSX.Element {
  return (
    <ul className="legend">
      {METERS.map((meter) => (
        <li key={meter}>
          <i className={`lane-${meter.toLowerCase()}`} aria-hidden="true" />
          {METER_NAMES[meter]}
        </li>
      ))}
    </ul>
  );
}
