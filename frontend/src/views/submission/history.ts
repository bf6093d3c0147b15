/** The story of a submission in lines for people, told from its events. Pure. */
import { dollars, plural, roughly, runtime, span } from "../../lib/format";
import type { StreamEvent } from "../../lib/types";

export interface Line {
  /** Seconds after the first event. */
  atS: number;
  title: string;
  detail: string;
  tone: "" | "good" | "bad" | "warn";
}

/** One line for each thing that happened. Cases that passed one after the other are one line, and so is a boot's phase. */
export function history(events: readonly StreamEvent[]): Line[] {
  const began = Date.parse(events[0]?.time ?? "");
  const lines: Line[] = [];
  let passed = 0;
  let phase = "";
  for (const event of events) {
    const atS = (Date.parse(event.time) - began) / 1000;
    if (event.status === "TEST_RESULT" && event.result.status === "PASSED") {
      passed += 1;
      const detail = `${passed} of ${event.total_tests}`;
      if (passed > 1) lines.pop();
      lines.push({ atS, title: "Cases passed", detail, tone: "good" });
      continue;
    }
    passed = 0;
    if (event.status === "PROVISIONING") {
      if (event.phase === phase) continue;
      phase = event.phase;
    }
    lines.push({ atS, ...told(event) });
  }
  return lines;
}

function told(event: StreamEvent): Omit<Line, "atS"> {
  switch (event.status) {
    case "IN_QUEUE":
      return plain("Handed in", `${queue(event.position)}${expected(event.quote)}`);
    case "XRAY":
      return xray(event);
    case "PROVISIONING":
      return plain("A VM is booting", `cold start: ${event.phase}`);
    case "VM_READY": {
      const what = event.simulated ? "this machine’s CPU stands in" : event.gpu;
      const again = event.attempt > 1 ? `, attempt ${event.attempt}` : "";
      return plain(
        event.vm_state === "WARM_REUSE" ? "A warm VM took it" : "The VM is ready",
        `${what}${again}`,
      );
    }
    case "COMPILING":
      return plain("Compiling", event.compiler);
    case "CHECKING":
      return plain("Compiled", `in ${span(event.compile_s)}; ${plural(event.total_tests, "case")} to check`);
    case "TEST_RESULT":
      return { title: "A case failed", detail: event.result.name, tone: "bad" };
    case "CHECKED":
      return { title: "Checked", detail: `all ${plural(event.total_tests, "case")} right`, tone: "good" };
    case "BENCHMARKING":
      return plain("Timing", plural(event.total_tests, "case"));
    case "BENCHMARK_RESULT":
      return plain(
        "Timed",
        `${event.result.name}: ${runtime(event.result.runtime_ms)}, ${plural(event.result.runs.length, "sample")}`,
      );
    case "BENCHMARKED":
      return { title: "Benchmarked", detail: runtime(event.avg_runtime_ms), tone: "good" };
    case "ACCEPTED":
      return {
        title: "Accepted",
        detail: `${runtime(event.avg_runtime_ms)}, ${dollars(event.cost_usd)}${event.simulated ? " simulated" : ""}`,
        tone: "good",
      };
    case "CANCELLED":
      return { title: "Cancelled", detail: event.message, tone: "warn" };
    default:
      return { title: sentence(event.status), detail: firstLine(event.message), tone: "bad" };
  }
}

function xray(event: Extract<StreamEvent, { status: "XRAY" }>): Omit<Line, "atS"> {
  if (event.compiles === false)
    return { title: "X-ray", detail: "does not compile for the GPU", tone: "bad" };
  if (event.compiles === null) return { title: "X-ray", detail: "not made", tone: "warn" };
  const kernels = event.kernels.map(
    (kernel) => `${kernel.name}: ${plural(kernel.waves_per_simd, "wave")} a SIMD`,
  );
  return plain("X-ray", [...kernels, plural(event.findings.length, "finding")].join(", "));
}

function plain(title: string, detail: string): Omit<Line, "atS"> {
  return { title, detail, tone: "" };
}

function queue(position: number): string {
  return position === 0 ? "first in the queue" : `${plural(position, "other")} before it`;
}

function expected(quote: { wait_s?: number | null } | null): string {
  const seconds = quote?.wait_s;
  return typeof seconds === "number" && seconds >= 1 ? `, about ${roughly(seconds)} to wait` : "";
}

function sentence(status: string): string {
  const text = status.replaceAll("_", " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
