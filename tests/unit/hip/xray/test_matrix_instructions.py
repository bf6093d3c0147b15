"""Matrix instructions by name: shape, FLOPs and cycles; and peaks that follow from them."""

from __future__ import annotations

import pytest

from warmfront import gpus
from warmfront.hip.xray.matrix_instructions import (
    BEST_BUILTINS,
    MATRIX_RATES,
    MatrixForm,
    flops_per_cycle,
    matrix_form,
)

#: Mnemonic, result registers, architecture → blocks, FLOP, cycles and element type.
FORMS = [
    ("v_mfma_f32_32x32x8_f16", 16, "gfx942", (1, 16384, 32, "fp16")),
    ("v_mfma_f32_16x16x16_bf16", 4, "gfx942", (1, 8192, 16, "bf16")),
    ("v_mfma_f32_32x32x4_2b_f16", 32, "gfx942", (2, 16384, 64, "fp16")),
    ("v_mfma_f32_4x4x4_16b_f16", 4, "gfx942", (16, 2048, 8, "fp16")),
    ("v_mfma_f32_32x32x2_f32", 16, "gfx942", (1, 4096, 64, "fp32")),
    ("v_mfma_f32_32x32x4_xf32", 16, "gfx942", (1, 8192, 32, "xf32")),
    ("v_mfma_f32_16x16x32_fp8_bf8", 4, "gfx942", (1, 16384, 16, "fp8")),
    ("v_mfma_i32_32x32x16_i8", 16, "gfx942", (1, 32768, 32, "int8")),
    ("v_mfma_f64_16x16x4_f64", 8, "gfx942", (1, 2048, 32, "fp64")),
    ("v_mfma_f64_4x4x4_4b_f64", 2, "gfx942", (4, 512, 16, "fp64")),
    ("v_smfmac_f32_16x16x32_f16", 4, "gfx942", (1, 16384, 16, "fp16")),
    ("v_mfma_f32_32x32x4f16", 32, "gfx90a", (2, 16384, 64, "fp16")),
    ("v_mfma_f32_32x32x8bf16_1k", 16, "gfx90a", (1, 16384, 64, "bf16")),
    ("v_mfma_f32_32x32x16_f16", 16, "gfx950", (1, 32768, 32, "fp16")),
    ("v_mfma_f32_16x16x128_f8f6f4", 4, "gfx950", (1, 65536, 32, "fp8")),
    ("v_mfma_f32_32x32x8_f16", 16, "gfx950", (1, 16384, 32, "fp16")),
    ("v_mfma_f32_16x16x32_fp8_bf8", 4, "gfx950", (1, 16384, 16, "fp8")),
    ("v_mfma_f32_32x32x4_2b_f16", 32, "gfx950", (2, 16384, None, "fp16")),
]


def form(mnemonic: str, registers: int) -> MatrixForm:
    """Return the form of an instruction whose result has this many registers."""
    found = matrix_form(mnemonic, f"v[0:{registers - 1}], v[40:41], v[42:43], v[0:{registers - 1}]")
    assert found is not None
    return found


@pytest.mark.parametrize(("mnemonic", "registers", "arch", "expected"), FORMS)
def test_form_of_a_mnemonic(
    mnemonic: str, registers: int, arch: str, expected: tuple[int, int, int | None, str]
) -> None:
    """A name has the shape; the result's registers have the number of blocks on gfx90a."""
    found = form(mnemonic, registers)
    assert (found.blocks, found.flops, found.cycles(arch), found.element_type) == expected
    assert found.sparse == mnemonic.startswith("v_smfmac")


def test_other_instructions_have_no_form() -> None:
    """Only matrix instructions have a form."""
    assert matrix_form("v_fma_f32", "v0, v1, v2, v3") is None
    assert matrix_form("v_accvgpr_read_b32", "v0, a1") is None


@pytest.mark.parametrize("gpu", gpus.CATALOG, ids=lambda gpu: gpu.name)
def test_rates_and_peaks_agree(gpu: gpus.Gpu) -> None:
    """The FLOPs per cycle of an architecture and the published peaks of a GPU imply one clock rate."""
    clocks = {
        elements: gpu.matrix_peak_flops[elements] / (rate * gpu.compute_units)
        for elements, rate in MATRIX_RATES[gpu.arch].items()
    }
    assert max(clocks.values()) == pytest.approx(min(clocks.values()), rel=0.002)
    assert 1.69e9 < min(clocks.values()) < 2.41e9


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942"])
def test_the_best_builtins_reach_the_rate(arch: str) -> None:
    """The builtin that a finding suggests is one of those at the full rate."""
    for elements, builtin in BEST_BUILTINS[arch].items():
        mnemonic = builtin.replace("__builtin_amdgcn_", "v_")
        registers = 8 if elements == "fp64" else 16
        assert flops_per_cycle(form(mnemonic, registers), arch) == MATRIX_RATES[arch][elements]
