"""The X-ray's findings: each rule reports the expected lines and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import EXAMPLES, FIGURES, FINDINGS, XrayHarness, marked, open_harness
from warmfront.hip.xray.xray_report import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Correct findings about honest kernels: loads and stores of 4 bytes per lane where 16 are possible, and
#: matrix products for readers who do not know matrix instructions yet, or only one tile per wave.
EXPECTED_IN_EXAMPLES = {
    "relu": {"narrow-loads"},
    "cumsum": {"narrow-stores"},
    "leaky_relu_half": {"narrow-loads"},
    "matmul": {"scalar-matmul"},
    "matmul_half": {"scalar-matmul"},
    "matmul_mfma": {"dependent-mfma", "narrow-stores"},
}
#: As above: arrays that do not fit into registers, and one tile per wave.
EXPECTED_IN_FIGURES = {
    "registers": {"spills", "private-array"},
    "narrow_types": {"narrow-loads"},
    "matrix_cores": {"dependent-mfma"},
}


@pytest.fixture(scope="module", name="harness")
def _harness() -> Iterator[XrayHarness]:
    yield from open_harness()


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_findings_are_exactly_the_marked_lines(harness: XrayHarness, path: Path) -> None:
    """The findings about a kernel are exactly those that comments in its source mark."""
    source = path.read_text()
    report = harness.xray(source)
    assert report.failure is None, report.failure.message
    assert {(finding.rule.value, finding.line) for finding in report.findings} == marked(source)
    for finding in report.findings:
        # A construct is found in the source, which may be outside of a kernel.
        kernels = {""} if finding.rule is Rule.NEEDS_ROCM_7 else {kernel.name for kernel in report.kernels}
        assert finding.kernel in kernels
        assert finding.message.endswith(".")
        assert finding.advice.endswith(".")


def test_corpus_covers_every_rule() -> None:
    """The corpus triggers each rule at least once, and has at least as many clean kernels as rules."""
    rules_by_file = [{rule for rule, _ in marked(path.read_text())} for path in FINDINGS]
    assert set().union(*rules_by_file) == {rule.value for rule in Rule}
    assert sum(not rules for rules in rules_by_file) >= len(Rule)


@pytest.mark.parametrize("path", [*EXAMPLES, *FIGURES], ids=lambda path: path.stem)
def test_no_false_positives(harness: XrayHarness, path: Path) -> None:
    """Well-written kernels have no findings other than the expected ones."""
    rules = {finding.rule.value for finding in harness.xray(path.read_text()).findings}
    assert rules == {**EXPECTED_IN_EXAMPLES, **EXPECTED_IN_FIGURES}.get(path.stem, set())


def test_finding_as_json(harness: XrayHarness) -> None:
    """The JSON form of a finding has its rule, kernel, line, message and advice."""
    path = next(path for path in FINDINGS if path.stem == "bank_conflict")
    (finding,) = harness.xray(path.read_text()).to_dict()["findings"]
    assert finding["rule"] == "bank-conflict"
    assert (finding["kernel"], finding["line"]) == ("transpose", 11)
    assert "32 lanes" in finding["message"]
    assert "[N + 1]" in finding["advice"]
