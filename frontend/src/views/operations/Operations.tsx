/** The view of operations. */
import { useTitle } from "../../lib/hooks";

export default function Operations(): React.JSX.Element {
  useTitle("Operations");
  return (
    <h1>
      Operations 
    </h1>
  );
}
