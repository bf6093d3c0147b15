"""Compare compiling a tiled matmul with today's precompiled headers and with those of an earlier commit.

Usage: python -m bench.compile_growth COMMIT

The kernel has only its first form, because older headers do not support second forms; a third figure shows
what the second form adds. The time is the CPU time of the compiler, so other work on the machine does not
count.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from bench.timing import print_bars
from warmfront.hip import cpu
from warmfront.hip.cpu.runtime_build import MAIN_HEADER
from warmfront.hip.source import SECOND_FORM
from warmfront.hip.source.rewrite import rewrite

ROOT = Path(__file__).parent.parent
_FOLDERS = ("src/warmfront/hip/include", "src/warmfront/hip/cpu/include")
_FLAGS = (*cpu.SUBMISSION_FLAGS, *cpu.GCC_FLAGS)
ROUNDS = 7


def main() -> None:
    """Precompile both sets of headers, compile with each in turn, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the commit whose headers are the baseline")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text = rewrite((ROOT / "examples" / "matmul.hip").read_text()).text
        both, source = folder / "both.cpp", folder / "matmul.cpp"
        both.write_text(text)
        source.write_text(_without_second_form(text))
        baseline = folder / "baseline"
        baseline.mkdir()
        archive = subprocess.run(
            ["git", "archive", options.commit, *_FOLDERS], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", baseline], input=archive, check=True)
        roots = {f"headers of {options.commit[:9]}": baseline, "headers of today": ROOT}
        includes = {name: _precompile(root, folder / str(i)) for i, (name, root) in enumerate(roots.items())}
        inputs = {name: (source, include) for name, include in includes.items()}
        inputs["with its second form"] = (both, includes["headers of today"])
        samples: dict[str, list[float]] = {name: [] for name in inputs}
        for _ in range(ROUNDS):
            for name, (file, include) in inputs.items():
                samples[name].append(_compile_s(file, include))
    seconds = {name: statistics.median(values) for name, values in samples.items()}
    print_bars(seconds)
    before, now, second = seconds.values()
    print(f"  today relative to {options.commit[:9]}: {now / before:.2f} (goal: 1.10 or less)")
    print(f"  two forms relative to one: {second / now:.2f}")


def _without_second_form(text: str) -> str:
    """Return the text of a submission without second forms, for headers that do not have them."""
    return f"#undef {SECOND_FORM}\n#define {SECOND_FORM}(...)\n" + text.replace("::hipcpu::forms(", "(")


def _precompile(root: Path, into: Path) -> Path:
    for part in _FOLDERS:
        shutil.copytree(root / part, into, dirs_exist_ok=True)
    header = into / MAIN_HEADER
    subprocess.run(
        ["g++", *_FLAGS, "-I", into, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True
    )
    return into


def _compile_s(source: Path, include: Path) -> float:
    """Return the CPU seconds of one compilation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["g++", *_FLAGS, "-I", str(include), "-include", MAIN_HEADER, "-c", str(source)]
    subprocess.run([*command, "-o", str(source.with_suffix(".o"))], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    main()
