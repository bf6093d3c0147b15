/** A time with its 95% interval, and a label if it is noisy. */
import { intervalText, knownInterval, medianText, NOISY_EXPLANATION, type Interval } from "../lib/timingText";

interface Props {
  ms: number | null | undefined;
  ci: Interval | null | undefined;
  noisy?: boolean | undefined;
  /** Put the interval below the time, for narrow columns. */
  stacked?: boolean;
}

export function TimeValue({ ms, ci, noisy = false, stacked = false }: Props): React.JSX.Element {
  if (ms === null || ms === undefined) return <span>–</span>;
  const interval = knownInterval(ci);
  return (
    <span className={`time-value ${stacked ? "stacked" : ""}`}>
      <span className="median">{medianText(ms, interval)}</span>{" "}
      <span className="dim small">({interval === null ? "interval unknown" : intervalText(interval, false)})</span>
      {noisy && (
        <>
          {" "}
          <NoisyLabel />
        </>
      )}
    </span>
  );
}

export function NoisyLabel(): React.JSX.Element {
  return (
    <span className="badge warn" title={NOISY_EXPLANATION}>
      noisy
    </span>
  );
}
