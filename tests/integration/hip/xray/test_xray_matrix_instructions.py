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
