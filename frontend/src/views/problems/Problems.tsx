/** The view of problems. */
import { useTitle } from "../../lib/hooks";

export default function Problems(): React.JSX.Element {
  useTitle("Problems");
  return (
    <h1>
      Problems 
    </h1>
  );
}
