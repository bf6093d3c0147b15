"""The X-ray compiles fp8 to the instructions of its GPU, and refuses the formats that the GPU lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import XrayHarness, open_harness

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPES = """#include <hip/hip_fp8.h>
__global__ void quantize(const float4* x, __hip_fp8x4_{0}* y, __hip_fp8_{0}* one, float* back) {{
  y[threadIdx.x] = __hip_fp8x4_{0}(x[threadIdx.x]);
  *one = *back;
  *back = one[1];
}}
"""
CONVERSION = """#include <hip/hip_fp8.h>
float host(float x) {{ return __hip_cvt_float_to_fp8(x, __HIP_SATFINITE, __HIP_{0}); }}
__global__ void k(float* x) {{
  x[0] = __hip_cvt_float_to_fp8(x[1], __HIP_SATFINITE, __HIP_{0});
}}
"""


@pytest.fixture(scope="module", name="harness")
def _harness() -> Iterator[XrayHarness]:
    yield from open_harness()


@pytest.mark.parametrize(("arch", "family"), [("gfx942", "e4m3_fnuz"), ("gfx950", "e5m2")])
def test_conversions_are_instructions(arch: str, family: str, harness: XrayHarness) -> None:
    """Four numbers need two packed conversions; nothing is computed in software."""
    report = harness.xray(TYPES.format(family), arch=arch)
    assert report.compiles, report.failure
    isa = str(report.to_dict(isa=True)["kernels"][0]["isa"])
    name = "fp8" if family.startswith("e4") else "bf8"
    assert isa.count(f"v_cvt_pk_{name}_f32") == 3
    assert f"v_cvt_f32_{name}" in isa


@pytest.mark.parametrize(
    ("arch", "family", "instead"),
    [("gfx942", "e4m3", "use __hip_fp8_e4m3_fnuz"), ("gfx950", "e4m3_fnuz", "use __hip_fp8_e4m3 ")],
)
def test_a_format_of_another_gpu_is_refused(
    arch: str, family: str, instead: str, harness: XrayHarness
) -> None:
    """The error for each use has the line, and says what to use."""
    failure = harness.xray(TYPES.format(family), arch=arch).failure
    assert failure is not None
    assert [diagnostic.line for diagnostic in failure.diagnostics] == [3, 4, 5]
    assert all(instead in diagnostic.message for diagnostic in failure.diagnostics)


@pytest.mark.parametrize(
    ("arch", "wrong", "right"), [("gfx942", "E4M3", "E4M3_FNUZ"), ("gfx950", "E5M2_FNUZ", "E5M2")]
)
def test_a_conversion_to_a_format_of_another_gpu_is_refused(
    arch: str, wrong: str, right: str, harness: XrayHarness
) -> None:
    """Only device code is refused: host code converts between all formats."""
    failure = harness.xray(CONVERSION.format(wrong), arch=arch).failure
    assert failure is not None
    assert [diagnostic.line for diagnostic in failure.diagnostics] == [4]
    assert f"__HIP_{right}" in failure.diagnostics[0].message
    assert harness.xray(CONVERSION.format(right), arch=arch).compiles


def test_numbers_of_four_bits_need_rocm_7(harness: XrayHarness) -> None:
    """The finding names the type, also where the warning is at a variable."""
    source = """#include <hip/hip_fp4.h>
__global__ void k(float* x) {
  __hip_fp4_e2m1 y(x[0]);
  x[1] = y;
}
"""
    report = harness.xray(source)
    assert report.compiles, report.failure
    found = [(f.line, f.message) for f in report.findings if f.rule == "needs-rocm-7"]
    assert found == [(3, "__hip_fp4_e2m1 needs ROCm 7: ROCm 6.4 does not have it.")]
