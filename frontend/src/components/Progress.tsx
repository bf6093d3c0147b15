/** A progress bar; indeterminate if the share is null. */
interface Props {
  share: number | null;
  label: string;
  late?: boolean;
}

export function Progress({ share, label, late = false }: Props): React.JSX.Element {
  const value = share === null ? {} : { "aria-valuenow": Math.round(100 * share) };
  return (
    <div
      className={`progress ${share === null ? "unknown" : ""} ${late ? "late" : ""}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...value}
    >
      <div style={share === null ? undefined : { transform: `scaleX(${share})` }} />
    </div>
  );
}
