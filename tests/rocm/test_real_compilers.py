"""The CPU runtime, the X-ray and real HIP compilers agree, or the X-ray says which ROCm a construct needs.

`make test-rocm` runs these with hipcc 6.4 and 7.2 in root file systems of the cache. They take minutes.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import pytest

from tests.support import real_hip, xray_harness
from tests.support.probe_batches import make_batches
from tests.support.real_hip import ROOT, VERSIONS, BrokenKernel, Feature, RealCompiler
from warmfront import problems, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.diagnose import classify
from warmfront.hip.source.edits import RewriteError
from warmfront.hip.source.rewrite import rewrite
from warmfront.hip.toolchain import GUEST_SOURCE, HARNESS_SOURCE
from warmfront.hip.trailer import SOURCE_NAME, wrap_source
from warmfront.hip.xray.xray_report import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tests.support.probe_batches import Batch
    from tests.support.xray_harness import XrayHarness
    from warmfront.hip.xray.xray_report import XrayReport

pytestmark = [pytest.mark.slow, pytest.mark.rocm]

_SOLUTIONS = [
    *sorted((ROOT / "examples").glob("*.hip")),
    *sorted((ROOT / "tests/corpus/solutions").rglob("*.hip")),
]
_THREADS = 4
_INFRASTRUCTURE_ERROR = 3
_BATCH = 40
_SMALL_BATCH = 6  #: the X-ray shows the first twenty errors of a source
_NEWER = Rule.NEEDS_ROCM_7
Item = TypeVar("Item")


@pytest.fixture(name="folder", scope="module")
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
        is_half = "__half" in text or path.stem.endswith("_half")
        dtype = problem.dtypes[-1] if is_half else problem.dtypes[0]
        done = compiler.check(f"{path.parent.name}-{path.stem}", wrap_source(text, problem, dtype))
        if done.returncode or "warmfront-trailer" in done.stderr:
            return f"{path.stem}: {done.stderr}"
        return ""

    failures = [failure for failure in _map(compile_solution, _SOLUTIONS) if failure]
    _report(f"solutions with ROCm {version}", len(_SOLUTIONS), failures)


@pytest.mark.parametrize("version", VERSIONS)
def test_compilers_accept_what_the_corpus_says(version: str, folder: Path) -> None:
    """Each one-feature probe is accepted by the versions that its line names, and by no others."""
    compiler = RealCompiler(version, folder)

    def find_refused(batch: Batch) -> set[Feature]:
        return set() if compiler.accepts_all(batch) else _fails_alone(compiler.accepts, batch.features)

    def find_accepted(batch: Batch) -> set[Feature]:
        undecided = set(batch.features) - compiler.refused(batch)
        return undecided - _fails_alone(compiler.accepts, undecided)

    probes = real_hip.features()
    wanted = [feature for feature in probes if version in feature.versions]
    others = [feature for feature in probes if version not in feature.versions]
    refused = _union(find_refused, make_batches(wanted, _BATCH))
    accepted = _union(find_accepted, make_batches(others, _BATCH))
    failures = [f"{f.name}: refused" for f in refused] + [f"{f.name}: accepted" for f in accepted]
    _report(f"probes with ROCm {version}", len(probes), failures)


def test_the_xray_accepts_what_the_newest_compiler_accepts(harness: XrayHarness) -> None:
    """The X-ray accepts nothing that ROCm 7.2 refuses, and says what ROCm 6.4 refuses.

    The corpus lists the constructs that the X-ray does not know.
    """

    def is_right(feature: Feature) -> bool:
        return _is_right(feature, harness.xray(feature.source))

    def find_wrong(batch: Batch) -> set[Feature]:
        report = harness.xray(batch.source)
        if report.compiles:
            newer = {
                batch.at(finding.line)
                for finding in report.findings
                if finding.rule is _NEWER and finding.line
            }
            return {feature for feature in batch.features if (feature in newer) != _is_newer(feature)}
        return _fails_alone(is_right, batch.features)

    def find_accepted(batch: Batch) -> set[Feature]:
        failure = harness.xray(batch.source).failure
        lines = [diagnostic.line for diagnostic in failure.diagnostics] if failure else []
        return _fails_alone(is_right, set(batch.features) - {batch.at(line) for line in lines})

    probes = real_hip.features()
    assert all(feature.in_target for feature in probes if feature.in_xray)
    wrong = _union(find_wrong, make_batches([f for f in probes if f.in_xray], _BATCH))
    wrong |= _union(find_accepted, make_batches([f for f in probes if not f.in_xray], _SMALL_BATCH))
    _report("probes with the X-ray", len(probes), [feature.name for feature in wrong])


def test_the_cpu_runtime_accepts_what_the_corpus_says(folder: Path) -> None:
    """The CPU runtime agrees with ROCm 7.2, except where the corpus says why it cannot."""
    toolchain = CpuToolchain(settings.load({}, env_file=None).cache_dir)
    toolchain.build()

    def translate(source: str) -> str:
        translation = rewrite(source)
        return translation.includes + translation.text

    def parse(name: str, text: str) -> subprocess.CompletedProcess[str]:
        file = folder / f"{name}.cc"
        file.write_text(f'#line 1 "{SOURCE_NAME}"\n{text}')
        command = [*toolchain._compile_command(), "-fsyntax-only", str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def accepts(feature: Feature) -> bool:
        try:
            return parse(feature.name, translate(feature.source)).returncode == 0
        except RewriteError:
            return False

    def find_refused(batch: Batch) -> set[Feature]:
        done = parse(f"batch-{batch.features[0].name}", batch.source)
        return _fails_alone(accepts, batch.features) if done.returncode else set()

    def find_accepted(batch: Batch) -> set[Feature]:
        undecided = set(batch.features) - batch.mentioned(
            parse(f"batch-{batch.features[0].name}", batch.source).stderr
        )
        return undecided - _fails_alone(accepts, undecided)

    probes = real_hip.features()
    wrong = _union(find_refused, make_batches([f for f in probes if f.on_cpu], _BATCH, translate))
    others = [feature for feature in probes if not feature.on_cpu and _can_be_rewritten(feature)]
    wrong |= _union(find_accepted, make_batches(others, _BATCH, translate))
    _report("probes with the CPU runtime", len(probes), [feature.name for feature in wrong])


@pytest.mark.parametrize("version", VERSIONS)
def test_errors_point_at_the_mistake(version: str, folder: Path) -> None:
    """For each broken kernel the first diagnostic has the line and the column of the mistake."""
    compiler = RealCompiler(version, folder)

    def check(kernel: BrokenKernel) -> str:
        done = compiler.check(kernel.name, kernel.source)
        if done.returncode == 0:  # some mistakes are found by the code generator or the linker only
            done = compiler.link(kernel.name, kernel.source)
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
def test_without_a_gpu_the_verdict_is_an_error(version: str, folder: Path) -> None:
    """A submission that the real hipcc compiles ends in ERROR, which says that there is no GPU."""
    command = ["run", "examples/leaky_relu.hip", "--problem", "leaky-relu", "--endpoint", "checker"]
    options = ["--toolchain", "rocm", "--sandbox", "bubblewrap", "--json"]
    done = real_hip.run_with_rocm(version, [*command, *options], cache_dir=folder / f"cache-{version}")
    assert done.returncode == _INFRASTRUCTURE_ERROR, done.stdout + done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert f"HIP version: {version}." in events[-3]["compiler"], events[-3]
    verdict = events[-1]
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert verdict["message"] == "The GPU does not work: hipGetDeviceCount: hipErrorNoDevice.", verdict


def _problem_of(path: Path, text: str) -> str:
    """Return the problem of a solution: the one that its first line names, or that of an example's name."""
    first = text.partition("\n")[0]
    if first.startswith("// problem: "):
        return first.removeprefix("// problem: ").split()[0]
    return re.sub("_(half|mfma)$", "", path.stem).replace("_", "-")


def _is_newer(feature: Feature) -> bool:
    """Return whether only the newest ROCm supports the feature of the probe."""
    return feature.versions == {VERSIONS[-1]}


def _is_right(feature: Feature, report: XrayReport) -> bool:
    """Return whether the report of a probe alone agrees with the corpus."""
    if report.compiles != feature.in_xray:
        return False
    return not report.compiles or _is_newer(feature) == any(f.rule is _NEWER for f in report.findings)


def _can_be_rewritten(feature: Feature) -> bool:
    try:
        rewrite(feature.source)
    except RewriteError:
        return False
    return True


def _fails_alone(accepts: Callable[[Feature], bool], features: Iterable[Feature]) -> set[Feature]:
    """Return the probes that are not accepted when nothing else is in their source."""
    return {feature for feature in features if not accepts(feature)}


def _union(find: Callable[[Batch], set[Feature]], batches: Iterable[Batch]) -> set[Feature]:
    """Return the union of the results of `find` for all batches."""
    with ThreadPoolExecutor(_THREADS) as pool:
        return set().union(*pool.map(find, batches))


def _map(check: Callable[[Item], str], items: list[Item]) -> list[str]:
    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(check, items))


def _report(what: str, total: int, disagreements: list[str]) -> None:
    """Print how many agree, and fail with those that do not."""
    print(f"{what}: {total - len(disagreements)} of {total} agree")
    assert not disagreements, "\n".join(disagreements)
