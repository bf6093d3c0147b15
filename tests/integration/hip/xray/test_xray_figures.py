"""The X-ray's figures compared with the compiler's remarks, for every source in the repository."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import EXAMPLES, FIGURES, FINDINGS, ROOT, XrayHarness, open_harness, remarks
from warmfront import problems
from warmfront.hip.xray.analysis import APPROXIMATE
from warmfront.hip.xray.assembly import InstructionKind
from warmfront.hip.xray.device_compiler import DeviceCompiler, find_libraries
from warmfront.hip.xray.occupancy import OccupancyLimit
from warmfront.problems.spec import Dtype

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

    from warmfront.hip.xray import KernelReport
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

CORPUS = [*FIGURES, *EXAMPLES]
#: An example with instructions that an architecture does not have.
WITHOUT_ITS_INSTRUCTIONS = {("fp8_matmul", "gfx90a")}

#: Sources that run on the CPU runtime but do not compile for the GPU, and why.
REJECTED = {
    "builtins": "'hipcpu' is a name of Warmfront's own headers",
    # It declares an intrinsic of LLVM in a form that this clang does not support for gfx942.
    "builtins_memory": "The compiler for gfx942 failed: error in backend: Cannot select",
    # Some of its kernels have a format or a scale that does not exist, which the CPU runtime reports.
    "matrix_gfx950": "The compiler for gfx950 failed: error in backend: Cannot select",
    "narrow_tables": "device code for gfx942 has the FNUZ formats of fp8 only",
    "core_faults": "'hipcpu' is a name of Warmfront's own headers",
    "core_ipc": "'hipcpu' is a name of Warmfront's own headers",
    "core_shared": "redeclaration of 'shared_of_t' with a different type",
    # Host functions in these call functions that HIP has only for the device.
    "headers_bfloat": "no matching function for call to '__hfma'",
    "headers_half": "no matching function for call to '__hfma'",
    "headers_math": "no matching function for call to 'erfinv'",
}


@pytest.fixture(scope="module", name="harness")
def _harness() -> Iterator[XrayHarness]:
    yield from open_harness()


def figures_of(kernel: KernelReport) -> dict[str, str]:
    """Return a kernel's figures under the names that the compiler's remarks use."""
    return {
        "TotalSGPRs": str(kernel.sgpr),
        "VGPRs": str(kernel.vgpr),
        "AGPRs": str(kernel.agpr),
        "ScratchSize [bytes/lane]": str(kernel.scratch_bytes),
        "Occupancy [waves/SIMD]": str(kernel.best_occupancy.waves_per_simd),
        "SGPRs Spill": str(kernel.sgpr_spills),
        "VGPRs Spill": str(kernel.vgpr_spills),
        "LDS Size [bytes/block]": str(kernel.lds_bytes),
    }


def _programs_and_architectures() -> Iterator[ParameterSet]:
    """Yield every program for gfx942; for the other architectures, every fifth one is a quick test."""
    for number, path in enumerate(CORPUS):
        for arch in ("gfx942", "gfx90a", "gfx950"):
            is_quick = arch == "gfx942" or number % 5 == 0
            marks = () if is_quick else (pytest.mark.slow,)
            yield pytest.param(path, arch, marks=marks, id=f"{path.stem}-{arch}")


@pytest.mark.parametrize(("path", "arch"), list(_programs_and_architectures()))
def test_agrees_with_the_compiler(harness: XrayHarness, path: Path, arch: str) -> None:
    """Registers, LDS, scratch, spills and best occupancy are equal to the compiler's remarks."""
    report = harness.xray(path.read_text(), arch=arch)
    if (path.stem, arch) in WITHOUT_ITS_INSTRUCTIONS:
        assert report.failure is not None
        return
    expected_by_symbol = remarks(path, arch)
    assert report.failure is None
    assert {kernel.symbol for kernel in report.kernels} <= set(expected_by_symbol)
    for kernel in report.kernels:
        expected = dict(expected_by_symbol[kernel.symbol])
        expected.pop("Dynamic Stack", None)
        assert figures_of(kernel) == expected, kernel.name


@pytest.mark.slow
def test_corpus_is_large_enough(harness: XrayHarness) -> None:
    """The corpus has at least 30 kernels and covers matrix cores, AGPRs, spills, scratch and every limit."""
    kernels = [kernel for path in CORPUS for kernel in harness.xray(path.read_text()).kernels]
    assert len(kernels) >= 30
    assert any(kernel.mix.count(InstructionKind.MFMA) for kernel in kernels)
    assert any(kernel.agpr for kernel in kernels)
    assert any(kernel.vgpr_spills for kernel in kernels)
    assert any(kernel.scratch_bytes and not kernel.vgpr_spills for kernel in kernels)
    assert any(kernel.launch_bound_threads for kernel in kernels)
    assert {kernel.best_occupancy.waves_per_simd for kernel in kernels} >= {1, 2, 4, 6, 7, 8}
    assert {kernel.occupancy.limited_by for kernel in kernels} >= {
        OccupancyLimit.NOTHING,
        OccupancyLimit.VGPRS,
        OccupancyLimit.LDS,
    }


def test_occupancy_limit_and_next_step(harness: XrayHarness) -> None:
    """For the README's matmul example: the limiting resource and the next step."""
    (kernel,) = harness.xray((ROOT / "examples" / "matmul.hip").read_text()).kernels
    assert (kernel.name, kernel.line, kernel.block) == ("matmul", 11, (256, 1, 1))
    assert kernel.launch_bound_threads == 256
    assert kernel.occupancy.limited_by is OccupancyLimit.VGPRS
    (step,) = kernel.steps
    assert step.waves_per_simd == kernel.occupancy.waves_per_simd + 1
    assert kernel.vgpr - step.change == step.reach
    assert [(loop.line, loop.depth) for loop in kernel.loops] == [(22, 1), (23, 2), (27, 2)]
    assert kernel.mix.count(InstructionKind.BARRIER) == 2
    assert kernel.mix.total == sum(kernel.mix.counts.values()) == len(kernel.instructions)


def test_load_widths_and_matrix_instructions(harness: XrayHarness) -> None:
    """Loads are counted by width, and matrix instructions separately."""
    kernels = {k.name: k for path in FIGURES for k in harness.xray(path.read_text()).kernels}
    assert kernels["one_tile"].mix.count(InstructionKind.MFMA) >= 1
    assert set(kernels["one_tile"].mix.load_widths) == {8}
    assert set(kernels["axpy_half"].mix.load_widths) == {2}
    assert kernels["free_choice<200>"].vgpr_spills > 0
    assert kernels["blocks_of_256<200>"].vgpr_spills == 0


def test_instructions_have_source_lines(harness: XrayHarness) -> None:
    """Most instructions of an example have a source line, and the JSON form contains all instructions."""
    for path in EXAMPLES:
        source = path.read_text()
        report = harness.xray(source)
        data = report.to_dict(isa=True)
        for kernel, plain in zip(report.kernels, data["kernels"], strict=True):
            lines = [instruction.line for instruction in kernel.instructions]
            assert sum(line is not None for line in lines) > 0.5 * len(lines), (path.name, kernel.name)
            assert max(line for line in lines if line) <= source.count("\n") + 1
            assert sum(len(block["instructions"]) for block in plain["isa"]) == len(lines)


@pytest.mark.parametrize("slug", ["matmul", "leaky-relu"])
def test_roofline(harness: XrayHarness, slug: str) -> None:
    """With a problem, the report says whether memory or arithmetic is the limit, and the floor."""
    problem = problems.get(slug)
    source = (ROOT / "examples" / f"{slug.replace('-', '_')}.hip").read_text()
    roofline = harness.xray(source, problem=problem, dtype=Dtype.FLOAT32).roofline
    assert roofline is not None
    assert roofline.memory_bound == (slug == "leaky-relu")
    assert roofline.flops_per_byte == pytest.approx(roofline.flops / roofline.bytes_moved)
    assert roofline.floor_ms > 0


def test_a_problem_that_declares_no_bytes_has_no_roofline(
    harness: XrayHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An operator's problem may declare that it moves nothing; the X-ray leaves the roofline out."""
    problem = problems.get("leaky-relu")
    monkeypatch.setattr(type(problem), "bytes_moved", lambda *_: 0)
    report = harness.xray(
        (ROOT / "examples/leaky_relu.hip").read_text(), problem=problem, dtype=Dtype.FLOAT32
    )
    assert report.kernels
    assert report.roofline is None


def _sources() -> list[Path]:
    folders = (
        "examples",
        "tests/corpus/solutions/ported",
        "tests/corpus/solutions/wrong",
        "tests/corpus/programs",
    )
    return [path for folder in folders for path in sorted((ROOT / folder).glob("*.hip"))]


@pytest.mark.parametrize("path", _sources(), ids=lambda path: path.stem)
def test_every_source_compiles_for_the_gpu(harness: XrayHarness, path: Path) -> None:
    """Every source that runs on the CPU runtime compiles for the GPU, except for the listed ones."""
    arch = "gfx950" if path.stem.endswith("gfx950") else "gfx942"
    failure = harness.xray(with_own_headers(path), arch=arch).failure
    if path.stem in REJECTED:
        assert failure is not None
        assert REJECTED[path.stem] in failure.message
    else:
        assert failure is None, failure.message


def with_own_headers(path: Path) -> str:
    """Return a source with the headers of its own folder inlined, because a submission is one file."""
    own = re.compile(r'^#include "(\w+\.h)"$', re.MULTILINE)
    return own.sub(lambda match: (path.parent / match[1]).read_text(), path.read_text())


@pytest.mark.slow
def test_without_device_libraries(harness: XrayHarness) -> None:
    """Without ROCm's bitcode the whole corpus compiles, and a note says that figures are approximate."""
    compiler = DeviceCompiler(harness.settings.cache_dir, "gfx942", libraries=None)
    for path in [*CORPUS, *FINDINGS]:
        report = harness.xray(path.read_text(), compiler=compiler)
        assert report.failure is None, report.failure.message
        assert report.notes == (APPROXIMATE,)
        assert not any(
            kernel.mix.count(InstructionKind.CALL) for kernel in report.kernels if kernel.name != "talkative"
        )


def test_figures_without_library_calls_are_exact(harness: XrayHarness) -> None:
    """A kernel without library calls has the same figures with and without the device libraries."""
    source = (ROOT / "examples" / "matmul.hip").read_text()
    without = harness.xray(
        source, compiler=DeviceCompiler(harness.settings.cache_dir, "gfx942", libraries=None)
    )
    assert find_libraries() is not None
    assert [figures_of(k) for k in without.kernels] == [figures_of(k) for k in harness.xray(source).kernels]


def test_in_every_sandbox(box_maker: Sandbox, tight: Settings) -> None:
    """The X-ray works in Docker and in bubblewrap."""
    (kernel,) = XrayHarness(box_maker, tight).xray((ROOT / "examples" / "relu.hip").read_text()).kernels
    assert kernel.name == "relu"
    assert kernel.occupancy.waves_per_simd == 8


@pytest.mark.parametrize("arch", ["gfx942", "gfx90a", "gfx950"])
def test_kernel_with_indirect_calls(harness: XrayHarness, arch: str) -> None:
    """A kernel has figures even where the compiler's summary has formulas instead of numbers."""
    source = (
        "__device__ float twice(float x) { return 2 * x; }\n"
        "__device__ float half(float x) { return x / 2; }\n"
        "__global__ void k(float* x, int which) {\n"
        "  float (*const functions[])(float) = {twice, half};\n"
        "  x[threadIdx.x] = functions[which](x[threadIdx.x]);\n"
        "}\n"
    )
    (kernel,) = harness.xray(f"#include <hip/hip_runtime.h>\n{source}", arch=arch).kernels
    assert kernel.vgpr > 0
    assert kernel.vgpr + kernel.agpr <= kernel.vgpr_total
