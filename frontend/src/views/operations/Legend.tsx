/** The legend of the meters. */
import { METER_NAMES, METERS } from "./calculations";

export function Legend(): React.JSX.Element {
  return (
    <ul className="legend">
      {METERS.map((meter) => (
        <li key={meter}>
          <i className={`meter-${meter.toLowerCase()}`} aria-hidden="true" />
          {METER_NAMES[meter]}
        </li>
      ))}
    </ul>
  );
}
