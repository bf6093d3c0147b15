"""Show a submission's events to a user: the current step, the cases, the verdict and its hint.

The view reads only the wire form of events, so that a local run and a submission on a server look the same.
On a terminal the current step is updated in place; in a file or a pipe each step is one plain line.
"""

from __future__ import annotations

import shutil
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from warmfront.cli.time_format import format_interval, format_median, format_time, timing_notes
from warmfront.events import output_by_case
from warmfront.gpus import CPU_NODE
from warmfront.verdicts import SUCCESS, Endpoint, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.table import Table

#: More findings than this are usually the same bug reported repeatedly.
MAX_FINDINGS = 8

#: The kind of time that a toolchain without a GPU measures.
SIMULATED_TIMES = {"cpu": "simulated CPU time", "stub": "virtual time of a stub GPU"}

_BARS = " ▁▂▃▄▅▆▇█"
#: Kinds of WAITING events for which no retry is scheduled.
_NOT_RETRIED = frozenset({"INTAKE_PAUSED", "NO_CPU_NODES"})
_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "bold red": "1;31",
    "bold green": "1;32",
}


class TerminalView:
    """A view that prints the events of one submission to a terminal or a file."""

    def __init__(
        self, heading: str, endpoint: Endpoint, stream: TextIO, *, began_at: float | None = None
    ) -> None:
        self._stream = stream
        self._is_live = stream.isatty()
        self._endpoint = endpoint
        self._drawn_since = time.perf_counter()
        self._began_at = self._step_began_at = began_at  #: None for the time of the first event
        self._now = 0.0  #: the time of the event being shown
        self._step: Callable[[], str] | None = None
        self._passed = self._failed = 0
        self._toolchain = ""  #: empty before the compilation
        self._timings: list[Mapping[str, Any]] = []
        self._has_vm = self._is_provisioning = False
        self._on_cpu_node = False  #: its results are simulated, but its costs are not
        self._reason = ""  #: why the submission waits
        self._print(heading, style="bold")

    def show(self, event: Mapping[str, Any]) -> None:
        """Show one event."""
        self._now = datetime.fromisoformat(event["time"]).timestamp()
        if self._began_at is None or self._step_began_at is None:
            self._began_at = self._step_began_at = self._now
        status = event["status"]
        steps: dict[str, Callable[[Mapping[str, Any]], None]] = {
            "IN_QUEUE": self._show_queue,
            "XRAY": self._show_xray,
            "PROVISIONING": self._show_provisioning,
            "WAITING": self._show_waiting,
            "VM_FAILED": self._show_failed_vm,
            "VM_READY": self._show_vm,
            "COMPILING": self._show_compiler,
            "CHECKING": self._begin_checks,
            "TEST_RESULT": self._show_case,
            "CHECKED": self._show_check_result,
            "BENCHMARKING": self._begin_timing,
            "BENCHMARK_RESULT": self._show_timing,
        }
        if status in steps:
            steps[status](event)
        if is_terminal(status, self._endpoint):
            self._show_success(event) if status in SUCCESS.values() else self._show_failure(event)

    def begin(self, step: str) -> None:
        """Show a step that began before the first event."""
        self._begin_step(lambda: step)

    def tick(self) -> None:
        """Redraw the current step with its elapsed time."""
        if not self._is_live or self._step is None:
            return
        seconds = f" … {time.perf_counter() - self._drawn_since:.1f} s"
        # A line that wraps could not be overwritten.
        width = max(shutil.get_terminal_size().columns - len(seconds) - 1, 10)
        self._stream.write(f"\r\x1b[K{self._step()[:width]}{seconds}")
        self._stream.flush()

    def close(self) -> None:
        """Erase the current step."""
        self._step = None
        if self._is_live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _show_queue(self, event: Mapping[str, Any]) -> None:
        quote = event.get("quote") or {}
        ahead = f"{event['position']} ahead" if event.get("position") else "next"
        self.close()
        self._print(f"queued, {ahead}{format_quote(quote)}", style="dim")
        self._begin_step(lambda: "waiting")

    def _show_provisioning(self, event: Mapping[str, Any]) -> None:
        if not self._is_provisioning:  # later phases only update the live step
            self._is_provisioning = True
            self.close()
            eta_s = event.get("eta_s")
            about = "" if eta_s is None else f", ready in about {eta_s:.0f} s"
            self._print(f"no warm VM; provisioning {event.get('vm_id', 'one')}{about}", style="dim")
        since = time.perf_counter()
        self._begin_step(lambda: format_provisioning(event, time.perf_counter() - since))

    def _show_waiting(self, event: Mapping[str, Any]) -> None:
        self._is_provisioning = False
        if event["reason"] != self._reason:  # later tries only update the live step
            self._reason = event["reason"]
            self.close()
            self._print(format_waiting(event), style="dim")
        since = time.perf_counter()
        self._begin_step(lambda: format_waiting(event, time.perf_counter() - since))

    def _show_failed_vm(self, event: Mapping[str, Any]) -> None:
        self._is_provisioning = False
        self.close()
        self._print(f"VM {event['vm_id']} cannot be used: {event['reason']}", style="dim")
        self._begin_step(lambda: "waiting for another VM")

    def _show_vm(self, event: Mapping[str, Any]) -> None:
        self._has_vm, self._is_provisioning = True, False
        cold = event["vm_state"] == "COLD_START"
        again = f", attempt {event['attempt']}" if event.get("attempt", 1) > 1 else ""
        self._on_cpu_node = event["gpu"] == CPU_NODE
        name = "CPU node" if self._on_cpu_node else event["gpu"]
        gpu = f"{name}, simulated" if event.get("simulated") else name
        if event.get("slots", 1) > 1:
            gpu = f"{gpu}, slot {event['slot'] + 1} of {event['slots']}"
        self._end_step(
            f"{'new' if cold else 'warm'} VM {event['vm_id']} ({gpu}){again}, after {self._lap_s():.2f} s"
        )
        self._begin_step(lambda: "compiling")

    def _show_xray(self, event: Mapping[str, Any]) -> None:
        self.close()
        if event["compiles"] is None:
            return
        if not event["compiles"]:
            self._end_step(f"does not compile for an {event['gpu']} ({event['arch']})", good=False)
            return
        for kernel in event["kernels"]:
            figures = f"{kernel['vgpr_total']} registers, {kernel['waves_per_simd']} of 8 waves per SIMD"
            self._print(
                f"  {kernel['name']} on an {event['gpu']}: {figures}, limited by {kernel['limited_by']}",
                style="dim",
            )
        for finding in event["findings"]:
            self._print(f"  line {finding['line']}: {finding['message']}", style="dim")

    def _show_compiler(self, event: Mapping[str, Any]) -> None:
        self._toolchain = event["toolchain"]
        where = f"{event['compiler']}, in {event['sandbox']}"
        if event["toolchain"] == "cpu":
            where += "; on the CPU runtime: times are not GPU times"
        elif event["toolchain"] == "stub":
            where += "; on a stub GPU: times are those of its model"
        self.close()
        self._print(where, style="dim")
        self._begin_step(lambda: "compiling")

    def _begin_checks(self, event: Mapping[str, Any]) -> None:
        self._passed = self._failed = 0
        self._end_step(f"compiled in {event['compile_s']:.2f} s")
        self._begin_step(lambda: f"checking 0/{event['total_tests']}")
        self._lap_s()

    def _show_case(self, event: Mapping[str, Any]) -> None:
        result, total = event["result"], event["total_tests"]
        if result["status"] == "PASSED":
            self._passed += 1
            self._begin_step(lambda: f"checking {self._passed}/{total}: {result['name']}")
        elif self._failed == 0:
            self._failed = 1
            self._end_step(f"{self._passed}/{total} cases passed, then one failed", good=False)
        else:  # in a check of all cases
            self._failed += 1
            self._end_step(f"{result['name']} failed", good=False)

    def _show_check_result(self, event: Mapping[str, Any]) -> None:
        results = event.get("test_results", ())
        hidden = sum(1 for result in results if result.get("hidden"))
        own = sum(1 for result in results if result.get("own"))
        of_them = f", {hidden} of them hidden," if hidden else ""
        of_them += f" {own} of them your own," if own else ""
        passed = f"{event['passed_tests']}/{event['total_tests']} cases passed{of_them}"
        self._end_step(f"{'launched' if event.get('buffers') else passed} in {self._lap_s():.2f} s")

    def _begin_timing(self, event: Mapping[str, Any]) -> None:
        self._timings = []
        self._begin_step(lambda: f"timing 0/{event['total_tests']}")

    def _show_timing(self, event: Mapping[str, Any]) -> None:
        self._timings.append(event["result"])
        self._begin_step(lambda: f"timing {len(self._timings)}/{event['total_tests']}")

    def _begin_step(self, step: Callable[[], str]) -> None:
        """Set the current step, which is drawn only on a terminal."""
        self._step = step
        self.tick()

    def _end_step(self, text: str, *, good: bool = True) -> None:
        self.close()
        mark = self._styled("✓", "green") if good else self._styled("✗", "red")
        self._print(f"{mark} {text}")

    def _lap_s(self) -> float:
        """Return the seconds since the last call, by the events' times: a replay shows the same figures."""
        seconds = self._now - (self._step_began_at or self._now)
        self._step_began_at = self._now
        return seconds

    def _show_success(self, event: Mapping[str, Any]) -> None:
        if self._timings:
            self._end_step(f"timed in {self._lap_s():.2f} s")
            title = simulated_time(self._toolchain) if event["simulated"] else None
            self._print_table(timing_table(self._timings, title=title))
            self._print("\n".join(timing_notes(self._timings)), style="dim")
        self._print_output(event)
        self._print_buffers(event.get("buffers", ()))
        if event.get("target"):
            self._print(event["target"])
        self._print_findings(event.get("warnings", ()))
        if event.get("bug_finder"):
            self._print(f"Bug finder: {event['bug_finder']}", style="dim")
        if event.get("fidelity") == "approximate":
            self._print(f"Fidelity: approximate. {event['fidelity_reason']}", style="dim")
        seconds = self._now - (self._began_at or self._now)
        verdict = self._styled(event["status"], "bold green")
        self._print(f"{verdict}{self._time(event)}, after {seconds:.2f} s{self._cost(event)}")

    def _show_failure(self, event: Mapping[str, Any]) -> None:
        self.close()
        details = event.get("details") or {}
        self._print_output(event)
        self._print_buffers(details.get("buffers", ()))
        self._print(f"{self._styled(event['status'], 'bold red')} ({event['code']}){self._cost(event)}")
        self._print(event["message"])
        if event.get("debug_info"):
            self._print_table(difference_table(event["debug_info"]))
        if failed := details.get("failed_cases"):
            others = "".join(f"\n  {case['message']}" for case in failed[1:])
            self._print(f"{len(failed)} of {event['total_tests']} cases failed.{others}")
        # The first finding is the message itself.
        self._print_findings(details.get("findings", ())[1:MAX_FINDINGS])
        if event.get("target"):
            self._print(str(event["target"]))
        if event.get("hint"):
            self._print(f"→ {event['hint']}")

    def _time(self, event: Mapping[str, Any]) -> str:
        """Format the average time with its interval; a check has none."""
        if not event.get("avg_runtime_ms"):
            return ""
        simulated = f" of {simulated_time(self._toolchain)}" if event.get("simulated") else ""
        noisy = f", {self._styled('noisy', 'yellow')}" if event.get("noisy") else ""
        return f", {format_time(event['avg_runtime_ms'], event.get('avg_ci'))}{simulated}{noisy}"

    def _cost(self, event: Mapping[str, Any]) -> str:
        """Format the cost of the VM's time; a local run has none."""
        if not self._has_vm or event.get("cost_usd") is None:
            return ""
        simulated = " simulated" if event.get("simulated") and not self._on_cpu_node else ""
        return f", cost{simulated} ${float(event['cost_usd']):.4f}"

    def _print_findings(self, findings: Sequence[Mapping[str, Any]]) -> None:
        """Print the bug finder's findings, each with its line and hint."""
        for finding in findings:
            line, other_line = finding["line"], finding["other_line"]
            place = f"line {line}" if line else "unknown line"
            if other_line and other_line != line:
                place += f" and line {other_line}"
            color = "red" if finding["severity"] == "error" else "yellow"
            self._print(f"{self._styled(finding['severity'], color)} {place}: {finding['message']}")
            self._print(f"  → {finding['hint']}", style="dim")

    def _print_output(self, event: Mapping[str, Any]) -> None:
        """Print the program's output by case, without control characters, which could alter the terminal."""
        for case, output in output_by_case(event).items():
            if output.strip():
                self._print(f"Output of the program{f' in case {case}' if case else ''}:", style="dim")
                self._print(
                    "".join(char if char.isprintable() or char in "\n\t" else "�" for char in output.rstrip())
                )

    def _print_buffers(self, buffers: Sequence[Mapping[str, Any]]) -> None:
        """Print the first values of the buffers of a scratch kernel."""
        for buffer in buffers:
            self._print("\n".join(format_buffer(buffer)))

    def _print(self, text: str, *, style: str = "") -> None:
        self._stream.write(f"{self._styled(text, style)}\n")
        self._stream.flush()

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and self._is_live else text

    def _print_table(self, table: Table) -> None:
        from rich.console import Console

        Console(file=self._stream, highlight=False).print(table)


def format_quote(quote: Mapping[str, Any]) -> str:
    """Format a quote, such as `; a VM is warm, starts in about 3 s, costs about $0.0012`."""
    parts = []
    if quote.get("vm_state"):
        parts.append("a VM must be provisioned" if quote["vm_state"] == "COLD_START" else "a VM is warm")
    if quote.get("wait_s") is not None:
        parts.append(f"starts in about {quote['wait_s']:.0f} s")
    if quote.get("cost_usd") is not None:
        parts.append(f"costs about ${float(quote['cost_usd']):.4f}")
    return f"; {', '.join(parts)}" if parts else ""


def format_provisioning(event: Mapping[str, Any], since_s: float, width: int = 20) -> str:
    """Format the progress of provisioning, `since_s` seconds after the event."""
    phase = f"VM {event.get('phase', 'provisioning')}"
    if event.get("eta_s") is None:
        return phase
    elapsed_s, left_s = event["elapsed_s"] + since_s, event["eta_s"] - since_s
    filled = min(width, int(width * elapsed_s / max(event["elapsed_s"] + event["eta_s"], 1e-9)))
    left = f"about {left_s:.0f} s left" if left_s > 0 else "almost ready"
    return f"{phase} {'█' * filled}{'░' * (width - filled)} {left}"


def format_waiting(event: Mapping[str, Any], since_s: float = 0.0) -> str:
    """Format why a submission waits for a VM, `since_s` seconds after the event."""
    ahead = f"{event['ahead']} ahead of you" if event["ahead"] else "you are next"
    if event["kind"] in _NOT_RETRIED:
        return f"{event['reason'].rstrip('.')}; {ahead}"
    retry_in_s = event["retry_in_s"] - since_s
    retry = f"retrying in {retry_in_s:.0f} s" if retry_in_s > 0 else "retrying now"
    eta_s = event.get("eta_s")
    start = ""
    if eta_s is not None:
        start = f"; if a VM is available then, starts in about {max(0.0, eta_s - since_s):.0f} s"
    return f"{event['reason'].rstrip('.')}; {retry}; {ahead}{start}"


def format_buffer(buffer: Mapping[str, Any], per_line: int = 8) -> list[str]:
    """Format the first values of a buffer, with the index of the first number in each line."""
    count = buffer["count"]
    values = [f"{value:.7g}" if isinstance(value, float) else str(value) for value in buffer["values"]]
    unwritten = f", {buffer['unwritten']:,} never written" if buffer["unwritten"] else ""
    width = max(map(len, values), default=0)
    lines = [f"{buffer['name']}: {count:,} of type {buffer['type']}{unwritten}"]
    for first in range(0, len(values), per_line):
        row = " ".join(value.rjust(width) for value in values[first : first + per_line])
        lines.append(f"  {first:>4}: {row}")
    return lines


def difference_table(info: Mapping[str, Any]) -> Table:
    """Return a table of the first wrong elements, with the largest and mean difference below."""
    from rich.table import Table

    largest, mean = _number(info["max_difference"], 6), _number(info["mean_difference"], 6)
    table = Table(caption=f"largest difference {largest}, mean {mean}")
    samples = info["sample_differences"]
    inputs = list(samples[0].get("inputs", {})) if samples else []
    for name in ("index", *inputs, "expected", "actual", "difference"):
        table.add_column(name, justify="right")
    for sample in samples:
        values = [sample["inputs"][name] for name in inputs]
        values += [sample[name] for name in ("expected", "actual", "difference")]
        table.add_row(", ".join(map(str, sample["index"])), *map(_number, values))
    return table


def simulated_time(toolchain: str) -> str:
    """Return a phrase for the kind of time that a toolchain without a GPU measures."""
    return SIMULATED_TIMES.get(toolchain, "simulated time")


def timing_table(timings: Sequence[Mapping[str, Any]], *, title: str | None) -> Table:
    """Return a table with one row per case: its figures and a histogram of its samples."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in ("case", "median ms", "95% interval", "", "GFLOP/s", "GB/s", "samples"):
        table.add_column(name, justify="right")
    table.add_column("fast … slow")
    for timing in timings:
        table.add_row(
            str(timing["test_id"]),
            format_median(timing["runtime_ms"], timing["ci"]),
            format_interval(timing["ci"]),
            "noisy" if timing.get("noisy") else "",
            "" if timing["gflops"] is None else f"{timing['gflops']:.4g}",
            f"{timing['gbps']:.4g}",
            str(len(timing["runs"])),
            histogram(timing["runs"]),
        )
    return table


def histogram(samples: Sequence[float], width: int = 12) -> str:
    """Draw the distribution of the samples from the fastest to the slowest."""
    low, high = min(samples), max(samples)
    if high <= low:
        return _BARS[-1]
    counts = [0] * width
    for sample in samples:
        counts[min(width - 1, int((sample - low) / (high - low) * width))] += 1
    top = max(counts)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // top)] for count in counts)


def _number(value: float | str, digits: int = 8) -> str:
    """Format a number; NaN and infinity, which JSON cannot represent, arrive as strings."""
    return str(value) if isinstance(value, int) else f"{float(value):.{digits}g}"
