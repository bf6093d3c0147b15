/** A submission in a few figures. */
import { dollars, gflops, moment, runtime, span } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import type { Story } from "../../lib/story";
import type { SubmissionDetail } from "../../lib/types";

export function Facts({ each, story }: { each: SubmissionDetail; story: Story }): React.JSX.Element {
  const now = useNow(each.finished_at === null);
  const until = each.finished_at === null ? now : Date.parse(each.finished_at);
  const facts: [string, string][] = [
    ["Time", runtime(each.avg_runtime_ms)],
    ["Speed", gflops(each.avg_gflops)],
    ["GPU", each.gpu_type],
    ["Type", each.dtype],
    ["Asked for", each.endpoint],
    ["Start", story.vm === null ? "–" : story.vm.cold ? "cold" : "warm"],
    ["Took", span((until - Date.parse(each.created_at)) / 1000)],
    ["Cost", costText(each)],
    ["By", each.owner],
    ["Handed in", moment(each.created_at)],
  ];
  return (
    <dl className="submission-facts card">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="dim small">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function costText({ cost_usd, simulated }: SubmissionDetail): string {
  if (cost_usd === 0) return "free";
  return cost_usd !== null && simulated ? `${dollars(cost_usd)} simulated` : dollars(cost_usd);
}
