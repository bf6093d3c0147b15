"""Time of an X-ray of each example, relative to the same compiler with the same flags.

The difference is the cost of the sandbox, and of parsing the assembly into figures and findings.
"""

from __future__ import annotations

import functools
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from bench.timing import medians_s, print_bars
from warmfront import sandbox, settings
from warmfront.hip.xray import xray
from warmfront.hip.xray.device_compiler import DeviceCompiler, choose_headers, find_libraries

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 9
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.hip"))


def main() -> None:
    """Measure each example and print the ratios."""
    configured = settings.load()
    compiler = DeviceCompiler(configured.cache_dir, "gfx942", libraries=find_libraries())
    maker = sandbox.open_sandbox(configured.sandbox, base=configured.box_dir)
    ratios = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            for example in EXAMPLES:
                source = example.read_text()
                examine = functools.partial(xray, source, sandbox=maker, settings=configured)
                assert examine().compiles  # also fills the caches
                bare = bare_call(example, compiler, Path(folder) / "kernels.s")
                seconds = medians_s({"X-ray": examine, "compiler alone": bare}, ROUNDS)
                ratios.append(seconds["X-ray"] / seconds["compiler alone"])
                print(f"  {example.stem}: {ratios[-1]:.2f}")
                if example.stem == "matmul":
                    print_bars(seconds)
    finally:
        maker.close()
    print(f"  X-ray relative to the compiler alone, median of {len(ratios)} examples: ", end="")
    print(f"{statistics.median(ratios):.2f} (goal: 1.5 or less)")


def bare_call(example: Path, compiler: DeviceCompiler, assembly: Path) -> Callable[[], object]:
    """Return a call of the compiler without a sandbox."""
    precompiled = compiler.precompiled(choose_headers(example.read_text()))
    command = [*compiler.command(str(example), precompiled), "-o", str(assembly)]
    return lambda: subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main()
