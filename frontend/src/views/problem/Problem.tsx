/** The view of problem. */
import { useTitle } from "../../lib/hooks";

export default function Problem({ slug }: { slug: string }): React.JSX.Element {
  useTitle("Problem");
  return (
    <h1>
      Problem {slug}
    </h1>
  );
}
