/** The view of settings. */
import { useTitle } from "../../lib/hooks";

export default function Settings(): React.JSX.Element {
  useTitle("Settings");
  return (
    <h1>
      Settings 
    </h1>
  );
}
