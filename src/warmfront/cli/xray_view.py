"""Shows an X-ray to a person who may never have seen one: each figure with what it is out of.

Only shows; every number and every sentence of advice comes from the report.
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

    from warmfront.hip.xray.occupancy import ComputeUnit, OccupancyStep
    from warmfront.hip.xray.xray_report import KernelReport, Loop, Roofline, XrayFinding, XrayReport

#: Kinds of instructions that a line names, at most.
_MOST_KINDS = 8
_MOST_LOOPS = 6


def show(report: XrayReport, source: str, file_name: str, *, isa: bool, stream: TextIO) -> None:
    """Print the report."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    heading = f"{file_name} on an {report.gpu} ({report.arch})"
    console.print(Text(heading, style="bold"))
    console.print(Text(f"{report.compiler}, in {report.seconds:.2f} s; nothing was run", style="dim"))
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
        console.print(Text("\n" + roofline_words(report.roofline)))
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
    return Text.assemble((kernel.name, "bold cyan"), f"{where}, {_block_words(kernel)}")


def _block_words(kernel: KernelReport) -> str:
    if kernel.block is None:
        bound = kernel.launch_bound_threads
        return f"blocks of up to {bound or 1024} threads" + ("" if bound else ", as nothing says otherwise")
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
    """Each figure in words."""
    yield "occupancy", occupancy_words(kernel, unit)
    for step in kernel.steps:
        yield "", f"→ {step_words(step, kernel.occupancy.waves_per_simd)}"
    if _size_is_open(kernel) and len({held.waves_per_simd for held in kernel.by_block.values()}) > 1:
        sizes = ", ".join(f"{size}: {held.waves_per_simd}" for size, held in kernel.by_block.items())
        yield "", f"by threads of a block: {sizes}"
    registers = f"{kernel.vgpr} of {unit.vgprs_per_lane} a thread"
    if kernel.agpr:
        registers = (
            f"{kernel.vgpr} and {kernel.agpr} for matrix sums, of {unit.vgprs_per_lane} a thread together"
        )
    yield "vector registers", registers
    yield (
        "scalar registers",
        f"{kernel.sgpr} of 102 a wave" if kernel.sgpr <= 102 else f"{kernel.sgpr} a wave",
    )
    lds = f"{kernel.lds_bytes:,} bytes a block, of {unit.lds_bytes:,} a compute unit"
    yield "LDS (__shared__)", lds if kernel.lds_bytes else "none that the compiler knows of"
    scratch = f"{kernel.scratch_bytes:,} bytes a thread, in memory"
    spilled = f"; {kernel.vgpr_spills} registers spilled" if kernel.vgpr_spills else ""
    yield "scratch", scratch + spilled if kernel.scratch_bytes else "none: everything is in registers"
    yield "code", counts_words(kernel.mix.counts, kernel.mix.total)
    if kernel.mix.load_widths or kernel.mix.store_widths:
        yield "global memory", "; ".join(_width_words(kernel))
    yield from _loop_rows(kernel)


def occupancy_words(kernel: KernelReport, unit: ComputeUnit) -> str:
    """How full a compute unit gets, and why not fuller."""
    held = kernel.occupancy
    most = unit.most_waves_per_simd
    bar = "█" * held.waves_per_simd + "░" * (most - held.waves_per_simd)
    best = " with the best block size" if _size_is_open(kernel) else ""
    text = f"{bar} {held.waves_per_simd} of {most} waves a SIMD{best}"
    if held.limited_by is OccupancyLimit.NOTHING:
        return f"{text}: as many as there is room for"
    return f"{text}, limited by {held.limited_by.value}"


def _size_is_open(kernel: KernelReport) -> bool:
    """Whether nothing says how large a block is."""
    return kernel.block is None and kernel.launch_bound_threads is None


def step_words(step: OccupancyStep, waves_now: int) -> str:
    """The next step of occupancy, such as `2 fewer vector registers (72): 6 → 7 waves`."""
    after = f"{waves_now} → {step.waves_per_simd} waves"
    if step.resource is OccupancyLimit.LDS:
        return f"{step.change:,} bytes less LDS ({step.reach:,} a block): {after}"
    if step.resource is OccupancyLimit.BLOCK:
        return f"blocks of {step.reach} threads: {after}"
    return f"{step.change} fewer {step.resource.value} ({step.reach} a thread): {after}"


def counts_words(counts: Mapping[str, int], total: int) -> str:
    """Instructions by kind, the most frequent first."""
    named = list(counts.items())[:_MOST_KINDS]
    return f"{total} instructions: " + ", ".join(f"{count} {kind}" for kind, count in named)


def _width_words(kernel: KernelReport) -> Iterator[str]:
    for name, widths in (("loads", kernel.mix.load_widths), ("stores", kernel.mix.store_widths)):
        if widths:
            yield f"{name} of " + ", ".join(f"{width} bytes ({count})" for width, count in widths.items())


def _loop_rows(kernel: KernelReport) -> Iterator[tuple[str, str]]:
    if not kernel.loops:
        yield "loops", "none left: unrolled, or there were none"
    # A loop that was unrolled leaves a second one of the same line for the rest.
    largest: dict[tuple[int | None, int], Loop] = {}
    for loop in sorted(kernel.loops, key=lambda loop: loop.instructions):
        largest[loop.line, loop.depth] = loop
    shown = [loop for loop in kernel.loops if largest[loop.line, loop.depth] is loop]
    for row, loop in enumerate(shown[:_MOST_LOOPS]):
        inside = f", inside {loop.depth - 1} other" if loop.depth > 1 else ""
        where = f"line {loop.line}" if loop.line else "somewhere"
        yield "" if row else "loops", f"{where}{inside}, {counts_words(loop.counts, loop.instructions)}"
    if len(shown) > _MOST_LOOPS:
        yield "", f"and {len(shown) - _MOST_LOOPS} more"


def roofline_words(roofline: Roofline) -> str:
    """What the problem asks at least."""
    limit = "memory" if roofline.memory_bound else "arithmetic"
    return (
        f"The problem, in {roofline.dtype} and its largest case ({roofline.case}), is "
        f"{roofline.flops / 1e9:.3g} GFLOP over {roofline.bytes_moved / 1e6:.3g} MB: "
        f"{roofline.flops_per_byte:.3g} FLOP a byte. An {roofline.gpu} is balanced at "
        f"{roofline.ridge_flops_per_byte:.3g}, so {limit} is the limit, and no kernel takes less than "
        f"{roofline.floor_ms:.3g} ms."
    )


def _show_findings(console: Console, report: XrayReport) -> None:
    if not report.kernels:
        return
    if not report.findings:
        console.print(Text("\nNothing stands out.", style="green"))
        return
    console.print()
    for finding in report.findings:
        console.print(_finding_words(finding))


def _finding_words(finding: XrayFinding) -> Text:
    where = f"line {finding.line}" if finding.line else finding.kernel
    return Text.assemble((f"{where}: ", "bold yellow"), f"{finding.message}\n", (f"  → {finding.advice}", ""))
