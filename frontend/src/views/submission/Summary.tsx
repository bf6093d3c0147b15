/** The main facts of a submission. */
import { capitalized, dollars, gflops, dateTime, span } from "../../lib/format";
import { simulatedTime } from "../../lib/simulatedTime";
import { useNow } from "../../lib/hooks";
import { hasSimulatedCosts, type SubmissionProgress } from "../../lib/submissionProgress";
import type { SubmissionDetailResponse } from "../../lib/generated";
import { TimeValue } from "../../components/TimeValue";

export function Summary({ submission, progress }: { submission: SubmissionDetailResponse; progress: SubmissionProgress }): React.JSX.Element {
  const now = useNow(submission.finished_at === null);
  const until = submission.finished_at === null ? now : Date.parse(submission.finished_at);
  const { avg_runtime_ms: ms, avg_ci: ci, noisy } = submission;
  const facts: [string, React.ReactNode][] = [
    [submission.simulated && ms !== null ? `${capitalized(simulatedTime(progress.toolchain))} (95% interval)` : "Time (95% interval)", <TimeValue key="time" ms={ms} ci={ci} noisy={noisy} />],
    ["Throughput", gflops(submission.avg_gflops)],
    ["GPU", submission.gpu_type],
    ["dtype", submission.dtype],
    ["Endpoint", submission.endpoint],
    ["Start", progress.vm === null ? "–" : progress.vm.cold ? "cold" : "warm"],
    ["Duration", span((until - Date.parse(submission.created_at)) / 1000)],
    ["Cost", costText(submission, progress)],
    ["User", submission.owner],
    ["Submitted", dateTime(submission.created_at)],
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

function costText({ cost_usd, simulated }: SubmissionDetailResponse, { vm }: SubmissionProgress): string {
  if (cost_usd === 0) return "free";
  const simulatedCosts = vm === null ? simulated : hasSimulatedCosts(vm);
  return cost_usd !== null && simulatedCosts ? `${dollars(cost_usd)} simulated` : dollars(cost_usd);
}
