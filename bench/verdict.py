"""Time of `warmfront run` relative to compiling and running the same kernel by hand.

By hand means: the same compiler, flags and precompiled header, and a `main` that reads the same inputs from
files, calls `solution` for each case and writes the outputs; no sandbox, no reference, no comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.timing import medians_s, print_bars
from warmfront import problems, settings
from warmfront.hip import cpu
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.source.rewrite import rewrite
from warmfront.problems.spec import Case, Dtype, Kind, Problem, Scale

ROUNDS = 9
EXAMPLES = {"leaky-relu": "leaky_relu.hip", "matrix-multiplication": "matmul.hip"}

_HEADER = r"""
#include <cstdio>
#include <vector>
template <class T> T* device(const char* file, size_t count) {
  std::vector<T> host(count);
  if (file) {
    FILE* f = fopen(file, "rb");
    if (fread(host.data(), sizeof(T), count, f) != count) exit(9);
    fclose(f);
  }
  T* memory;
  (void)hipMalloc(&memory, count * sizeof(T));
  (void)hipMemcpy(memory, host.data(), count * sizeof(T), hipMemcpyHostToDevice);
  return memory;
}
template <class T> void save(const char* file, const T* memory, size_t count) {
  std::vector<T> host(count);
  (void)hipMemcpy(host.data(), memory, count * sizeof(T), hipMemcpyDeviceToHost);
  FILE* f = fopen(file, "wb"); fwrite(host.data(), sizeof(T), count, f); fclose(f);
}
"""


def main_for(problem: Problem, folder: Path) -> str:
    """Return a C++ program that runs every case of the problem with inputs from `folder`."""
    blocks = [_block(problem, case, number, folder) for number, case in enumerate(problem.cases(Scale.CPU))]
    return f"{_HEADER}\nint main() {{\n{''.join(blocks)}}}\n"


def _block(problem: Problem, case: Case, number: int, folder: Path) -> str:
    inputs = problem.inputs(case, Dtype.FLOAT32, np.random.default_rng(number))
    shapes = problem.output_shapes(case)
    arguments, saves = [], []
    for parameter in problem.signature:
        element = (parameter.dtype or Dtype.FLOAT32).c_name
        file = folder / f"{number}.{parameter.name}"
        if parameter.kind is Kind.INPUT:
            inputs[parameter.name].tofile(file)
            arguments.append(f'device<{element}>("{file}", {inputs[parameter.name].size})')
        elif parameter.kind is Kind.OUTPUT:
            count = int(np.prod(shapes[parameter.name]))
            arguments.append(f"{parameter.name} = device<{element}>(nullptr, {count})")
            saves.append(f'{element}* {parameter.name}; @ save("{file}", {parameter.name}, {count});')
        else:
            arguments.append(str(case.values[parameter.name]))
    declared = " ".join(save.split("@")[0] for save in saves)
    saved = " ".join(save.split("@")[1] for save in saves)
    return f"  {{ {declared} solution({', '.join(arguments)}); {saved} }}\n"


def compare(slug: str, file: Path, toolchain: CpuToolchain, folder: Path) -> None:
    """Measure one example and print the times and their ratios."""
    problem = problems.get(slug)
    built = toolchain.built
    source = folder / "by_hand.cpp"
    source.write_text(rewrite(file.read_text()).text + main_for(problem, folder))
    program, flags = folder / "by_hand", [*toolchain.submission_flags, "-I", str(built / "include")]
    runtime = folder / "runtime.o"
    objects = [folder / f"{path.stem}.o" for path in cpu.RUNTIME_SOURCES]
    for path, target in zip(cpu.RUNTIME_SOURCES, objects, strict=True):
        run_compiler(["g++", *cpu.RUNTIME_FLAGS, "-I", str(built / "include"), "-c", path, "-o", target])
    run_compiler(["ld", "-r", *objects, "-o", runtime])
    sources = ["-include", "hip/hip_runtime.h", str(source), str(runtime)]
    command = ["g++", *flags, *sources, "-o", str(program), "-ldl", "-pthread"]

    def by_hand() -> None:
        subprocess.run(command, check=True)
        subprocess.run([str(program)], check=True)

    def by_warmfront(**environment: str) -> None:
        warmfront = Path(sys.executable).parent / "warmfront"
        command = [str(warmfront), "run", str(file), "--problem", slug, "--endpoint", "checker"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})

    seconds = medians_s(
        {
            "X-ray and bug finder off": lambda: by_warmfront(WARMFRONT_XRAY="0", WARMFRONT_BUG_FINDER="0"),
            "warmfront run": by_warmfront,
            "by hand": by_hand,
        },
        ROUNDS,
    )
    print(slug)
    print_bars(seconds)
    alone, everything, hand = seconds.values()
    print(f"  warmfront run relative to by hand: {everything / hand:.2f} (goal: 1.5 or less)")
    print(f"  without X-ray and bug finder: {alone / hand:.2f}\n")


def main() -> None:
    """Measure each example."""
    toolchain = CpuToolchain(settings.load().cache_dir)
    examples = Path(__file__).parent.parent / "examples"
    for slug, name in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            compare(slug, examples / name, toolchain, Path(folder))


if __name__ == "__main__":
    main()
