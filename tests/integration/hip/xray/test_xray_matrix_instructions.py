"""The compiler for gfx942 accepts the matrix instructions that the CPU runtime has, as the same source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import XrayHarness, open_harness
from warmfront.hip.xray.assembly import InstructionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = Path(__file__).parents[3] / "corpus" / "programs"


@pytest.fixture(scope="module", name="harness")
def _harness() -> Iterator[XrayHarness]:
    yield from open_harness()


@pytest.mark.parametrize(("program", "count"), [("matrix_dense", 32), ("matrix_sparse", 14)])
def test_every_form(harness: XrayHarness, program: str, count: int) -> None:
    """Every form compiles for gfx942 to one matrix instruction."""
    text = (PROGRAMS / f"{program}.hip").read_text().partition("// main\n")[0]
    forms = re.findall(r"^  X\((\w+), [a-z]\w+", text, re.MULTILINE)
    report = harness.xray(text)
    assert report.failure is None, report.failure.message
    found = {
        kernel.name.partition("<")[0]: kernel.mix.count(InstructionKind.MFMA) for kernel in report.kernels
    }
    assert found == dict.fromkeys(forms, 1)
    assert len(found) == count


def test_every_form_of_gfx950(harness: XrayHarness) -> None:
    """The forms that only gfx950 has compile for it, and those without scales to their own instruction."""
    text = (PROGRAMS / "matrix_gfx950.hip").read_text().partition("// main\n")[0]
    report = harness.xray(text, arch="gfx950")
    assert report.failure is None, report.failure.message
    forms = re.findall(r"^  X\((\w+), [a-z]\w+", text, re.MULTILINE)
    found = {
        kernel.name.partition("<")[0]: kernel.mix.count(InstructionKind.MFMA) for kernel in report.kernels
    }
    assert found == dict.fromkeys([*forms, "scaled_16", "scaled_32", "unscaled"], 1)
    mnemonics = [each.mnemonic for kernel in report.kernels for each in kernel.instructions]
    assert mnemonics.count("v_mfma_scale_f32_16x16x128_f8f6f4") == 1
    assert mnemonics.count("v_mfma_f32_16x16x128_f8f6f4") == 1


def test_a_form_of_gfx950_on_gfx942(harness: XrayHarness) -> None:
    """A form that only gfx950 has is an error for gfx942, with its line and what to use."""
    report = harness.xray((PROGRAMS / "matrix_gfx950.hip").read_text().partition("// main\n")[0])
    assert report.failure is not None
    assert report.failure.code == "UNKNOWN_INSTRUCTION"
    assert "is not an instruction of gfx942 (MI300X)" in report.failure.message
    assert report.failure.hint.startswith("Use __builtin_amdgcn_mfma_")
