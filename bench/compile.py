"""Compare compiling a tiled matmul with the precompiled header and without it.

The time that is left is that of the kernel, which is compiled in two forms: `bench/compile_growth.py` prints
the share of the second one.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from bench.timing import medians_s, print_bars
from warmfront import problems, settings
from warmfront.hip import cpu
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.cpu.runtime_build import MAIN_HEADER
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

ROUNDS = 11


def main() -> None:
    """Measure both, and print the ratio."""
    toolchain = CpuToolchain(settings.load().cache_dir)
    built = toolchain.built
    example = Path(__file__).parent.parent / "examples" / "matmul.hip"
    problem = problems.get("matmul")
    submission = JudgeRequest(
        source=example.read_text(), problem=problem, dtype=problem.dtypes[0], endpoint=Endpoint.CHECKER
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "matmul.cpp"
        source.write_text(toolchain.translate(submission).text)
        bare = Path(folder) / "include"
        shutil.copytree(built / "include", bare, ignore=shutil.ignore_patterns("*.gch", "*.pch"))

        def compile_with(include: Path) -> None:
            flags = [*toolchain.submission_flags, *cpu.WHOLE_FLAGS, "-I", str(include)]
            run_compiler(
                ["g++", *flags, "-include", MAIN_HEADER, "-c", source, "-o", Path(folder) / "matmul.o"]
            )

        seconds = medians_s(
            {
                "with the precompiled header": lambda: compile_with(built / "include"),
                "without": lambda: compile_with(bare),
            },
            ROUNDS,
        )
    print_bars(seconds)
    ratio = seconds["with the precompiled header"] / seconds["without"]
    print(f"  with the header relative to without it: {ratio:.2f} (goal: 0.5 or less)")


if __name__ == "__main__":
    main()
