/** Describe the events of a submission, one line each. Pure. */
import { dollars, plural, roughly, span, statusText } from "../../lib/format";
import { gpuText } from "../../lib/submissionProgress";
import { samplesText, timeText, timingInterval } from "../../lib/timingText";
import { waitingText } from "../../lib/waitingText";
import type { QueueQuote, SubmissionEvent, XrayEvent } from "../../lib/generated";

export interface EventLine {
  /** Seconds after the first event. */
  atS: number;
  title: string;
  detail: string;
  tone: "" | "good" | "bad" | "warn";
}

/** Return one line per event. Consecutive passed cases share a line, and so do the events of a provisioning phase. */
export function eventLines(events: readonly SubmissionEvent[]): EventLine[] {
  const startMs = Date.parse(events[0]?.time ?? "");
  const lines: EventLine[] = [];
  let passed = 0;
  let phase = "";
  for (const event of events) {
    const atS = (Date.parse(event.time) - startMs) / 1000;
    if (event.status === "TEST_RESULT" && event.result.status === "PASSED") {
      passed += 1;
      const detail = `${passed} of ${event.total_tests}`;
      if (passed > 1) lines.pop();
      lines.push({ atS, title: "Cases passed", detail, tone: "good" });
      continue;
    }
    passed = 0;
    if (event.status === "WAITING" && lines.at(-1)?.title === "Waiting for a VM") lines.pop();
    if (event.status === "PROVISIONING") {
      if (event.phase === phase) continue;
      phase = event.phase;
    }
    lines.push({ atS, ...describe(event) });
  }
  return lines;
}

function describe(event: SubmissionEvent): Omit<EventLine, "atS"> {
  switch (event.status) {
    case "IN_QUEUE":
      return plain("Submitted", `${positionText(event.position)}${waitText(event.quote)}`);
    case "XRAY":
      return xray(event);
    case "PROVISIONING":
      return plain("Provisioning a VM", `cold start: ${event.phase}`);
    case "WAITING":
      return { title: "Waiting for a VM", detail: waitingText(event), tone: "warn" };
    case "VM_FAILED":
      return { title: "VM cannot be used", detail: event.reason, tone: "warn" };
    case "VM_READY": {
      const attempt = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
      return plain(
        event.vm_state === "WARM_REUSE" ? "Assigned to a warm VM" : "VM ready",
        `${gpuText(event)}${attempt}`,
      );
    }
    case "COMPILING":
      return plain("Compiling", event.compiler);
    case "CHECKING":
      return plain("Compiled", `in ${span(event.compile_s)}; ${plural(event.total_tests, "case")} to check`);
    case "TEST_RESULT":
      return { title: "Case failed", detail: event.result.name, tone: "bad" };
    case "CHECKED":
      return { title: "Checked", detail: `all ${plural(event.total_tests, "case")} passed`, tone: "good" };
    case "BENCHMARKING":
      return plain("Timing", plural(event.total_tests, "case"));
    case "BENCHMARK_RESULT":
      return plain(
        "Timed",
        `${event.result.name}: ${timeText(event.result.runtime_ms, timingInterval(event.result))}, ${samplesText(event.result)}${noisyText(event.result)}`,
      );
    case "BENCHMARKED":
      return { title: "Benchmarked", detail: `${timeText(event.avg_runtime_ms, event.avg_ci)}${noisyText(event)}`, tone: "good" };
    case "ACCEPTED":
      return {
        title: "Accepted",
        detail: `${timeText(event.avg_runtime_ms, event.avg_ci)}${noisyText(event)}, ${dollars(event.cost_usd)}${event.simulated ? " simulated" : ""}`,
        tone: "good",
      };
    case "CANCELLED":
      return { title: "Cancelled", detail: event.message, tone: "warn" };
    default:
      return { title: statusText(event.status), detail: firstLine(event.message), tone: "bad" };
  }
}

function xray(event: XrayEvent): Omit<EventLine, "atS"> {
  if (event.compiles === false)
    return { title: "X-ray", detail: "does not compile for the GPU", tone: "bad" };
  if (event.compiles === null) return { title: "X-ray", detail: "not available", tone: "warn" };
  const kernels = event.kernels.map(
    (kernel) => `${kernel.name}: ${plural(kernel.waves_per_simd, "wave")} per SIMD`,
  );
  return plain("X-ray", [...kernels, plural(event.findings.length, "finding")].join(", "));
}

function plain(title: string, detail: string): Omit<EventLine, "atS"> {
  return { title, detail, tone: "" };
}

function noisyText({ noisy = false }: { noisy?: boolean }): string {
  return noisy ? ", noisy" : "";
}

function positionText(position: number): string {
  return position === 0 ? "first in the queue" : `${position} ahead`;
}

function waitText({ wait_s: seconds }: QueueQuote): string {
  return seconds >= 1 ? `, estimated wait ${roughly(seconds)}` : "";
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
