"""The CPU runtime, the X-ray and real HIP compilers agree, or the X-ray says which ROCm a construct needs.

`make test-rocm` runs these with hipcc 6.4 and 7.2 in root file systems of the cache. They take minutes.
"""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.support import real_hip, xray_harness
from tests.support.real_hip import ROOT, VERSIONS, BrokenKernel, Feature, RealCompiler
from warmfront import problems, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.diagnose import classify
from warmfront.hip.source.edits import RewriteError
from warmfront.hip.source.rewrite import rewrite
from warmfront.hip.toolchain import GUEST_SOURCE, HARNESS_SOURCE
from warmfront.hip.trailer import wrap_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.xray_harness import XrayHarness

pytestmark = [pytest.mark.slow, pytest.mark.rocm]

_SOLUTIONS = [
    *sorted((ROOT / "examples").glob("*.hip")),
    *sorted((ROOT / "tests/corpus/solutions").rglob("*.hip")),
]
_THREADS = 2
Item = TypeVar("Item")


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    folder = ROOT / "build" / "rocm"
    folder.mkdir(parents=True, exist_ok=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(name="harness", scope="module")
def _harness() -> Iterator[XrayHarness]:
    yield from xray_harness.open_harness()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("program", [GUEST_SOURCE, HARNESS_SOURCE], ids=lambda path: path.stem)
def test_builds_the_programs_of_the_judge_without_a_warning(
    version: str, program: Path, folder: Path
) -> None:
    """Guest and harness compile and link; `hipcc -Wall -Wextra` prints nothing."""
    flags = ["--offload-arch=gfx942", "-O2", "-std=c++20", "-rdynamic", "-Wall", "-Wextra"]
    built = folder / program.stem
    command = ["hipcc", *flags, "-x", "hip", str(program), "-o", str(built), "-ldl", "-lpthread"]
    done = RealCompiler(version, folder).run(command)
    assert (done.returncode, done.stderr) == (0, "")
    assert built.exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_accepts_the_examples_and_the_ported_kernels(version: str, folder: Path) -> None:
    """Each solution compiles with its trailer, without a warning about our own text."""
    compiler = RealCompiler(version, folder)

    def compile_solution(path: Path) -> str:
        text = path.read_text()
        slug = _problem_of(path, text)
        problem = problems.get(slug)
        dtype = problem.dtypes[-1] if path.stem.endswith("_half") else problem.dtypes[0]
        done = compiler.compile(path.stem, wrap_source(text, problem, dtype), "-shared", "-fsyntax-only")
        if done.returncode or "warmfront-trailer" in done.stderr:
            return f"{path.stem}: {done.stderr}"
        return ""

    failures = [failure for failure in _map(compile_solution, _SOLUTIONS) if failure]
    _report(f"solutions with ROCm {version}", len(_SOLUTIONS), failures)


@pytest.mark.parametrize("version", VERSIONS)
def test_compilers_accept_what_the_corpus_says(version: str, folder: Path) -> None:
    """Each one-feature probe is accepted by the versions that its line names, and by no others."""
    compiler = RealCompiler(version, folder)

    def check(feature: Feature) -> str:
        accepted = compiler.check(feature.name, feature.source).returncode == 0
        return "" if accepted == (version in feature.versions) else f"{feature.name}: accepted is {accepted}"

    probes = real_hip.features()
    _report(f"probes with ROCm {version}", len(probes), [found for found in _map(check, probes) if found])


def test_the_xray_accepts_what_the_newest_compiler_accepts(harness: XrayHarness) -> None:
    """The X-ray agrees with ROCm 7.2, and has a finding for each probe that ROCm 6.4 refuses."""

    def check(feature: Feature) -> str:
        report = harness.xray(feature.source)
        if report.failure is not None and report.failure.code == "NO_HEADER":
            return "" if not feature.in_target else f"{feature.name}: no header"
        if report.compiles != feature.in_target:
            return f"{feature.name}: compiles is {report.compiles}"
        rules = {finding.rule.value for finding in report.findings}
        if feature.versions == {VERSIONS[-1]} and "needs-rocm-7" not in rules:
            return f"{feature.name}: no finding says that it needs ROCm 7"
        return ""

    probes = real_hip.features()
    _report("probes with the X-ray", len(probes), [found for found in _map(check, probes) if found])


def test_the_cpu_runtime_accepts_what_the_corpus_says(folder: Path) -> None:
    """The CPU runtime agrees with ROCm 7.2, except where the corpus says why it cannot."""
    toolchain = CpuToolchain(settings.load({}, env_file=None).cache_dir)
    toolchain.build()

    def check(feature: Feature) -> str:
        try:
            text = rewrite(feature.source).text
        except RewriteError:
            accepted = False
        else:
            file = folder / f"{feature.name}.cc"
            file.write_text(text)
            command = [*toolchain._compile_command(), "-c", str(file), "-o", "/dev/null"]
            accepted = subprocess.run(command, capture_output=True, check=False).returncode == 0
        return "" if accepted == feature.on_cpu else f"{feature.name}: accepted is {accepted}"

    probes = real_hip.features()
    _report("probes with the CPU runtime", len(probes), [found for found in _map(check, probes) if found])


@pytest.mark.parametrize("version", VERSIONS)
def test_errors_point_at_the_mistake(version: str, folder: Path) -> None:
    """For each broken kernel the first diagnostic has the line and the column of the mistake."""
    compiler = RealCompiler(version, folder)

    def check(kernel: BrokenKernel) -> str:
        done = compiler.compile(kernel.name, kernel.source, "-shared", "-O1", "-Wl,-z,defs")
        if done.returncode == 0:
            return "" if version == "6.4" and "wave-size" in kernel.name else f"{kernel.name}: it compiles"
        failure = classify(done.stderr, kernel.source, "", rewritten=False)
        first = failure.diagnostics[0]
        found = first.source_line[first.column - 1 :]
        if first.line == kernel.line and found.startswith(kernel.text):
            return ""
        return f"{kernel.name}: at line {first.line}, {found!r}: {first.message}"

    kernels = real_hip.broken_kernels()
    _report(f"broken kernels with ROCm {version}", len(kernels), [f for f in _map(check, kernels) if f])


@pytest.mark.parametrize("version", VERSIONS)
def test_the_real_runtime_without_a_gpu_is_an_error(version: str, folder: Path) -> None:
    """The harness with the real libamdhip64 reports that there is no device, and does not crash."""
    source = folder / "count.cpp"
    source.write_text(
        "#include <hip/hip_runtime.h>\n#include <cstdio>\n"
        'int main() { int n = 0; std::puts(hipGetErrorName(hipGetDeviceCount(&n))); std::printf("%d", n); }\n'
    )
    compiler = RealCompiler(version, folder)
    built = str(folder / "count")
    assert compiler.run(["hipcc", *compiler.flags(), "-x", "hip", str(source), "-o", built]).returncode == 0
    done = compiler.run([built])
    assert (done.returncode, done.stdout) == (0, "hipErrorNoDevice\n0"), done.stderr


def _problem_of(path: Path, text: str) -> str:
    """Return the problem of a solution: the one that its first line names, or that of an example's name."""
    first = text.partition("\n")[0]
    if first.startswith("// problem: "):
        return first.removeprefix("// problem: ").split()[0]
    return path.stem.removesuffix("_half").replace("_", "-")


def _map(check: Callable[[Item], str], items: list[Item]) -> list[str]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(check, items))


def _report(what: str, total: int, disagreements: list[str]) -> None:
    """Print how many agree, and fail with those that do not."""
    print(f"{what}: {total - len(disagreements)} of {total} agree")
    assert not disagreements, "\n".join(disagreements)
