/** A button that shows a line of the source. */
export function LineLink({
  line,
  onLine,
}: {
  line: number | null;
  onLine: (line: number) => void;
}): React.JSX.Element | null {
  if (line === null) return null;
  return (
    <button type="button" className="line-link" onClick={() => onLine(line)}>
      line {line}
    </button>
  );
}
