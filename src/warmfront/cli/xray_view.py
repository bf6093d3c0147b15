"""Print an X-ray report, each figure with its maximum, for readers who are new to such reports.

Every number and every piece of advice comes from the report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.isa_listing import listing_blocks, side_by_side
from warmfront.hip.xray.occupancy import COMPUTE_UNITS, OccupancyLimit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.hip.xray.matrix_usage import MatrixUsage
    from warmfront.hip.xray.occupancy import ComputeUnit, OccupancyStep
    from warmfront.hip.xray.xray_report import KernelReport, Loop, Roofline, XrayFinding, XrayReport

#: How many kinds of instructions a line lists.
_MAX_KINDS = 8
_MAX_LOOPS = 6


def show(report: XrayReport, source: str, file_name: str, *, isa: bool, stream: TextIO) -> None:
    """Print the report."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    heading = f"{file_name} on an {report.gpu} ({report.arch})"
    console.print(Text(heading, style="bold"))
    console.print(Text(f"{report.compiler}, in {report.seconds:.2f} s; not executed", style="dim"))
    for note in report.notes:
        console.print(Text(note, style="yellow"))
    if report.failure is not None:
        console.print(Text(f"\nIt does not compile for {report.arch}.", style="bold red"))
        message = report.failure.message.replace(f"{SOURCE_NAME}:", f"{file_name}:")
        console.print(Text(message), soft_wrap=True)
        console.print(Text(f"→ {report.failure.hint}"))
        return
    for kernel in report.kernels:
        console.print()
        console.print(_title(kernel))
        console.print(_figures(kernel, COMPUTE_UNITS[report.arch]))
    if report.roofline is not None:
        console.print(Text("\n" + format_roofline(report.roofline)))
    _show_findings(console, report)
    if isa:
        for kernel in report.kernels:
            console.print(Text(f"\n{kernel.name}: source and assembly", style="bold"))
            for row in side_by_side(
                listing_blocks(kernel.instructions, kernel.labels), source, console.width
            ):
                console.print(Text(row), soft_wrap=True)


def _title(kernel: KernelReport) -> Text:
    where = f", line {kernel.line}" if kernel.line else ""
    return Text.assemble((kernel.name, "bold cyan"), f"{where}, {_format_block(kernel)}")


def _format_block(kernel: KernelReport) -> str:
    if kernel.block is None:
        bound = kernel.launch_bound_threads
        return f"blocks of up to {bound or 1024} threads" + ("" if bound else " (no __launch_bounds__)")
    x, y, z = kernel.block
    extents = " x ".join(str(size) for size in (x, y, z) if size > 1) or "1"
    total = f" = {x * y * z}" if extents != str(x * y * z) else ""
    return f"launched with blocks of {extents}{total} threads"


def _figures(kernel: KernelReport, unit: ComputeUnit) -> Table:
    table = Table(box=None, pad_edge=True, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in figure_rows(kernel, unit):
        table.add_row(name, value)
    return table


def figure_rows(kernel: KernelReport, unit: ComputeUnit) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each figure."""
    yield "occupancy", format_occupancy(kernel, unit)
    for step in kernel.steps:
        yield "", f"→ {format_step(step, kernel.occupancy.waves_per_simd)}"
    if _size_is_open(kernel) and len({held.waves_per_simd for held in kernel.by_block.values()}) > 1:
        sizes = ", ".join(f"{size}: {held.waves_per_simd}" for size, held in kernel.by_block.items())
        yield "", f"waves by block size: {sizes}"
    registers = f"{kernel.vgpr} of {unit.vgprs_per_lane} per thread"
    if kernel.agpr:
        registers = (
            f"{kernel.vgpr} + {kernel.agpr} accumulation registers, of {unit.vgprs_per_lane} per thread"
        )
    yield "vector registers", registers
    yield (
        "scalar registers",
        f"{kernel.sgpr} of 102 per wave" if kernel.sgpr <= 102 else f"{kernel.sgpr} per wave",
    )
    lds = f"{kernel.lds_bytes:,} bytes per block, of {unit.lds_bytes:,} per compute unit"
    yield "LDS (__shared__)", lds if kernel.lds_bytes else "none known to the compiler"
    scratch = f"{kernel.scratch_bytes:,} bytes per thread, in memory"
    spilled = f"; {kernel.vgpr_spills} registers spilled" if kernel.vgpr_spills else ""
    yield "scratch", scratch + spilled if kernel.scratch_bytes else "none: everything fits in registers"
    yield "code", format_counts(kernel.mix.counts, kernel.mix.total)
    if kernel.mix.load_widths or kernel.mix.store_widths:
        yield "global memory", "; ".join(_format_widths(kernel))
    if kernel.matrix is not None:
        yield from _matrix_rows(kernel.matrix)
    yield from _loop_rows(kernel)


def _matrix_rows(usage: MatrixUsage) -> Iterator[tuple[str, str]]:
    for row, use in enumerate(usage.forms):
        cycles = f" in {use.cycles} cycles" if use.cycles else ""
        work = f"{use.instructions} {use.form}, {use.flops:,} FLOP{cycles} each"
        yield "" if row else "matrix cores", f"{work}, {use.share:.0%} of the loop's arithmetic"
    busy = ""
    if usage.most_utilisation is not None:
        busy = f"; the matrix core is busy at most {usage.most_utilisation:.0%} of the time"
    yield "", f"{usage.accumulators} independent sums per wave{busy}"


def format_occupancy(kernel: KernelReport, unit: ComputeUnit) -> str:
    """Format the occupancy of a compute unit and what limits it."""
    held = kernel.occupancy
    most = unit.most_waves_per_simd
    bar = "█" * held.waves_per_simd + "░" * (most - held.waves_per_simd)
    best = " with the best block size" if _size_is_open(kernel) else ""
    text = f"{bar} {held.waves_per_simd} of {most} waves per SIMD{best}"
    if held.limited_by is OccupancyLimit.NOTHING:
        return f"{text}, the maximum"
    return f"{text}, limited by {held.limited_by.value}"


def _size_is_open(kernel: KernelReport) -> bool:
    """Return whether neither a launch nor `__launch_bounds__` sets the block size."""
    return kernel.block is None and kernel.launch_bound_threads is None


def format_step(step: OccupancyStep, waves_now: int) -> str:
    """Format a change that raises the occupancy, such as `2 fewer vector registers (72): 6 → 7 waves`."""
    after = f"{waves_now} → {step.waves_per_simd} waves"
    if step.resource is OccupancyLimit.LDS:
        return f"{step.change:,} bytes less LDS ({step.reach:,} per block): {after}"
    if step.resource is OccupancyLimit.BLOCK:
        return f"blocks of {step.reach} threads: {after}"
    return f"{step.change} fewer {step.resource.value} ({step.reach} per thread): {after}"


def format_counts(counts: Mapping[str, int], total: int) -> str:
    """Format instruction counts by kind, the most frequent first."""
    named = list(counts.items())[:_MAX_KINDS]
    return f"{total} instructions: " + ", ".join(f"{count} {kind}" for kind, count in named)


def _format_widths(kernel: KernelReport) -> Iterator[str]:
    for name, widths in (("loads", kernel.mix.load_widths), ("stores", kernel.mix.store_widths)):
        if widths:
            yield f"{name} of " + ", ".join(f"{width} bytes ({count})" for width, count in widths.items())


def _loop_rows(kernel: KernelReport) -> Iterator[tuple[str, str]]:
    if not kernel.loops:
        yield "loops", "none, or all unrolled"
    # An unrolled loop leaves a remainder loop with the same line.
    largest: dict[tuple[int | None, int], Loop] = {}
    for loop in sorted(kernel.loops, key=lambda loop: loop.instructions):
        largest[loop.line, loop.depth] = loop
    shown = [loop for loop in kernel.loops if largest[loop.line, loop.depth] is loop]
    for row, loop in enumerate(shown[:_MAX_LOOPS]):
        inside = f", nesting depth {loop.depth}" if loop.depth > 1 else ""
        where = f"line {loop.line}" if loop.line else "unknown line"
        yield "" if row else "loops", f"{where}{inside}, {format_counts(loop.counts, loop.instructions)}"
    if len(shown) > _MAX_LOOPS:
        yield "", f"and {len(shown) - _MAX_LOOPS} more"


def format_roofline(roofline: Roofline) -> str:
    """Format the lower bound that the problem sets on the runtime."""
    limit = "memory" if roofline.memory_bound else "arithmetic"
    peaks = ", ".join(f"{name} {flops / 1e12:,.1f}" for name, flops in roofline.matrix_peaks.items())
    return (
        f"The problem, in {roofline.dtype} and its largest case ({roofline.case}), requires "
        f"{roofline.flops / 1e9:.3g} GFLOP over {roofline.bytes_moved / 1e6:.3g} MB: "
        f"{roofline.flops_per_byte:.3g} FLOP per byte. The ridge point of an {roofline.gpu} is at "
        f"{roofline.ridge_flops_per_byte:.3g}, so {limit} is the bottleneck, and no kernel takes less than "
        f"{roofline.floor_ms:.3g} ms. Its matrix cores compute, in TFLOP/s: {peaks}."
    )


def _show_findings(console: Console, report: XrayReport) -> None:
    if not report.kernels:
        return
    if not report.findings:
        console.print(Text("\nNo findings.", style="green"))
        return
    console.print()
    for finding in report.findings:
        console.print(_format_finding(finding))


def _format_finding(finding: XrayFinding) -> Text:
    where = f"line {finding.line}" if finding.line else finding.kernel
    return Text.assemble((f"{where}: ", "bold yellow"), f"{finding.message}\n", (f"  → {finding.advice}", ""))
