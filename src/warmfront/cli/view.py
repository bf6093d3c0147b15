"""Shows a submission's events to a person: which step, which case, how long; the verdict, and what to do.

Only shows. On a terminal the current step is live; in a file or a pipe each step is a plain line. Rich
draws the tables and is loaded when the first one comes: until then the compiler has the machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TextIO

from warmfront.events import (
    Accepted,
    Benchmarked,
    Benchmarking,
    BenchmarkResult,
    Checked,
    Checking,
    Compiling,
    Event,
    Failed,
    TestResult,
    Timing,
    Xray,
)
from warmfront.submissions import Endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from warmfront.events import Finding
    from warmfront.submissions import Submission

#: More findings than this are the same bug many times over.
MOST_FINDINGS = 8

_BARS = " ▁▂▃▄▅▆▇█"
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
    """One submission on a terminal, or in a file."""

    def __init__(self, submission: Submission, stream: TextIO) -> None:
        self._stream = stream
        self._is_live = stream.isatty()
        self._submission = submission
        self._started = self._step_started = time.perf_counter()
        self._passed = 0
        self._timings: list[Timing] = []
        what = f"{submission.file_name} for {submission.problem.slug}, {submission.dtype.value}"
        self._print(what, style="bold")
        self._live("compiling")

    def show(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Xray():
                self._xray(event)
            case Compiling():
                self._begin(event)
            case Checking():
                self._done(f"compiled in {event.compile_s:.2f} s")
                self._live(f"checking 0/{event.total_tests}")
                self._lap()
            case TestResult():
                self._case(event)
            case Checked():
                self._done(f"{event.passed_tests}/{event.total_tests} cases right, in {self._lap():.2f} s")
                if self._submission.endpoint is Endpoint.CHECKER:
                    self._verdict(event, event.output)
            case Failed():
                self._failed(event)
            case _:
                self._show_timing(event)

    def _show_timing(self, event: Event) -> None:
        match event:
            case Benchmarking():
                self._live(f"timing 0/{event.total_tests}")
            case BenchmarkResult():
                self._timings.append(event.result)
                self._live(f"timing {len(self._timings)}/{event.total_tests}")
            case Benchmarked() | Accepted():
                self._done(f"timed in {self._lap():.2f} s")
                self._print_table(timing_table(self._timings, simulated=event.simulated))
                self._print("\n".join(case_notes(self._timings)), style="dim")
                self._verdict(event, event.output)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._is_live:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _xray(self, event: Xray) -> None:
        self.close()
        if event.compiles is None:
            return
        if not event.compiles:
            self._done(f"does not compile for an {event.gpu} ({event.arch})", good=False)
            return
        for kernel in event.kernels:
            figures = f"{kernel['vgpr_total']} registers, {kernel['waves_per_simd']} of 8 waves a SIMD"
            self._print(
                f"  {kernel['name']} on an {event.gpu}: {figures}, limited by {kernel['limited_by']}",
                style="dim",
            )
        for finding in event.findings:
            self._print(f"  line {finding['line']}: {finding['message']}", style="dim")

    def _begin(self, event: Compiling) -> None:
        where = f"{event.compiler}, in {event.sandbox}"
        if event.toolchain == "cpu":
            where += "; on the CPU simulator: its milliseconds are not a GPU's"
        self._print(where, style="dim")
        self._live("compiling")

    def _case(self, event: TestResult) -> None:
        result = event.result
        if result.status == "PASSED":
            self._passed += 1
            self._live(f"checking {self._passed}/{event.total_tests}: {result.name}")
        else:
            self._done(f"{self._passed}/{event.total_tests} cases right, then one failed", good=False)

    def _live(self, text: str) -> None:
        """The step that is going on; nothing in a file, where it would only be noise."""
        if self._is_live:
            self._stream.write(f"\r\x1b[K{text[:100]} … {time.perf_counter() - self._started:.1f} s")
            self._stream.flush()

    def _done(self, text: str, *, good: bool = True) -> None:
        self.close()
        mark = self._styled("✓", "green") if good else self._styled("✗", "red")
        self._print(f"{mark} {text}")

    def _lap(self) -> float:
        now = time.perf_counter()
        seconds, self._step_started = now - self._step_started, now
        return seconds

    def _verdict(self, event: Event, output: str) -> None:
        self._printed(output)
        if target := getattr(event, "target", ""):
            self._print(target)
        self._findings(getattr(event, "warnings", ()))
        if note := getattr(event, "bug_finder", ""):
            self._print(f"The bug finder: {note}", style="dim")
        seconds = time.perf_counter() - self._started
        average = getattr(event, "avg_runtime_ms", None)
        unit = "ms of simulator time" if getattr(event, "simulated", False) else "ms"
        figure = f", {average:.4g} {unit}" if average else ""
        self._print(f"{self._styled(event.status, 'bold green')}{figure}, after {seconds:.2f} s")

    def _failed(self, event: Failed) -> None:
        self.close()
        self._printed(str(event.details.get("output", "")))
        self._print(f"{self._styled(event.verdict, 'bold red')} ({event.code})")
        self._print(event.message)
        info = event.details.get("debug_info")
        if info:
            self._print_table(difference_table(info))
        # The hint has the first of them.
        self._findings(event.details.get("findings", ())[1:MOST_FINDINGS])
        if event.details.get("target"):
            self._print(str(event.details["target"]))
        if event.hint:
            self._print(f"→ {event.hint}")

    def _findings(self, findings: Sequence[Finding]) -> None:
        """What the bug finder saw, each with its line and what to try."""
        for finding in findings:
            place = f"line {finding.line}" if finding.line else "somewhere"
            if finding.other_line and finding.other_line != finding.line:
                place += f" and line {finding.other_line}"
            colour = "red" if finding.severity == "error" else "yellow"
            self._print(f"{self._styled(finding.severity, colour)} {place}: {finding.message}")
            self._print(f"  → {finding.hint}", style="dim")

    def _printed(self, output: str) -> None:
        """What the program printed, without the codes that could repaint a terminal."""
        if output.strip():
            self._print("It printed:", style="dim")
            self._print("".join(c if c.isprintable() or c in "\n\t" else "�" for c in output.rstrip()))

    def _print(self, text: str, *, style: str = "") -> None:
        self._stream.write(f"{self._styled(text, style)}\n")
        self._stream.flush()

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and self._is_live else text

    def _print_table(self, table: Table) -> None:
        from rich.console import Console  # noqa: PLC0415 - as the module says

        Console(file=self._stream, highlight=False).print(table)


def difference_table(info: dict[str, Any]) -> Table:
    """The first few wrong elements, the largest difference below."""
    from rich.table import Table  # noqa: PLC0415 - as the module says

    table = Table(
        caption=f"largest difference {info['max_difference']:.6g}, mean {info['mean_difference']:.6g}"
    )
    for name in ("index", "expected", "actual", "difference"):
        table.add_column(name, justify="right")
    for sample in info["sample_differences"]:
        index = ", ".join(map(str, sample["index"]))
        table.add_row(index, *(_number(sample[name]) for name in ("expected", "actual", "difference")))
    return table


def timing_table(timings: list[Timing], *, simulated: bool) -> Table:
    """A line a case: its figures, and a picture of the samples."""
    from rich.table import Table  # noqa: PLC0415 - as the module says

    table = Table(
        title="simulator time" if simulated else None, title_justify="left", box=None, pad_edge=False
    )
    for name in ("case", "median ms", "95% interval", "GFLOP/s", "GB/s", "samples"):
        table.add_column(name, justify="right")
    table.add_column("fast … slow")
    for timing in timings:
        low, high = timing.ci
        table.add_row(
            str(timing.test_id),
            f"{timing.runtime_ms:.4g}",
            f"{low:.4g} to {high:.4g}",
            "" if timing.gflops is None else f"{timing.gflops:.4g}",
            f"{timing.gbps:.4g}",
            str(len(timing.runs)),
            histogram(timing.runs),
        )
    return table


def case_notes(timings: list[Timing]) -> list[str]:
    """What the numbers in the table's first column stand for, and what was noted about them."""
    return [f"  {timing.test_id}: {timing.name}. {timing.note}".rstrip(". ") for timing in timings]


def histogram(samples: tuple[float, ...], width: int = 12) -> str:
    """How the samples lie between the fastest and the slowest, as a small picture."""
    low, high = min(samples), max(samples)
    if high <= low:
        return _BARS[-1]
    counts = [0] * width
    for sample in samples:
        counts[min(width - 1, int((sample - low) / (high - low) * width))] += 1
    top = max(counts)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // top)] for count in counts)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.8g}"
