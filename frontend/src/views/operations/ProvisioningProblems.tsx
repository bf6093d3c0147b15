/** Why no VMs are provisioned: shortages, during which submissions wait, and open circuit breakers with a button that resets them. */
import { useState } from "react";
import { resetProvisioning } from "../../lib/api";
import { plural, span } from "../../lib/format";
import type { OperationsResponse, ProvisioningProblemResponse } from "../../lib/generated";
import { CPU_NODE } from "../../lib/submissionProgress";

export function ProvisioningProblems({ data, now }: { data: OperationsResponse; now: number }): React.JSX.Element {
  return (
    <>
      {data.provisioning.map((problem) => (
        <Problem key={problem.gpu_type} problem={problem} now={now} mayReset={data.everyone} />
      ))}
    </>
  );
}

interface ProblemProps {
  problem: ProvisioningProblemResponse;
  now: number;
  mayReset: boolean;
}

/** What happens to submissions while a circuit breaker is open. */
function whileOpen({ gpu_type, failures }: ProvisioningProblemResponse): string {
  const effect = gpu_type === CPU_NODE ? "VMs with a GPU judge checks, if the credits cover that," : "Submissions fail";
  return `${effect} after ${plural(failures, "failed VM")}`;
}

function Problem({ problem, now, mayReset }: ProblemProps): React.JSX.Element {
  const [failure, setFailure] = useState<string | null>(null);
  const retryS = (Date.parse(problem.retry_at) - now) / 1000;
  const retry = retryS > 0 ? `retrying in ${span(retryS)}` : "retrying when a submission needs a VM";
  const name = problem.gpu_type === CPU_NODE ? "CPU node" : problem.gpu_type;
  const reset = () => {
    setFailure(null);
    resetProvisioning(problem.gpu_type).catch((error: unknown) => setFailure(error instanceof Error ? error.message : "The request failed."));
  };
  return (
    <div className={`note ${problem.open ? "bad" : "warn"} row`} role="alert" data-testid="provisioning-problem">
      <div className="grow">
        <strong>{problem.open ? `Circuit breaker open for ${name}` : `No ${name} available`}</strong>: {problem.reason}
        <div className="small">
          {problem.open
            ? `${whileOpen(problem)}; ${retry}.`
            : `Submissions wait; ${plural(problem.failures, "try", "tries")}; ${retry}.`}{" "}
          {problem.hint}
        </div>
        {failure !== null && <div className="small">Reset failed: {failure}</div>}
      </div>
      {mayReset && (
        <button className="button" onClick={reset}>
          {problem.open ? "Reset" : "Retry now"}
        </button>
      )}
    </div>
  );
}
