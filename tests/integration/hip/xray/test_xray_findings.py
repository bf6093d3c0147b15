"""Findings of the X-ray: each rule finds what it is for, at its line, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.xray_harness import EXAMPLES, FIGURES, FINDINGS, Lab, marked, open_lab
from warmfront.hip.xray.xray_report import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Loops that stream 4 bytes at a time, where 16 would do: an expert would say so too.
AGREED = {"relu": {"narrow-loads"}, "leaky_relu_half": {"narrow-loads"}}


@pytest.fixture(scope="module", name="lab")
def _lab() -> Iterator[Lab]:
    yield from open_lab()


@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
def test_finds_what_is_there_and_nothing_else(lab: Lab, path: Path) -> None:
    """The findings about a kernel are exactly those that its source announces, at those lines."""
    source = path.read_text()
    report = lab.xray(source)
    assert report.failure is None, report.failure.message
    assert {(finding.rule.value, finding.line) for finding in report.findings} == marked(source)
    for finding in report.findings:
        assert finding.kernel in {kernel.name for kernel in report.kernels}
        assert finding.message.endswith(".")
        assert finding.advice.endswith(".")


def test_every_rule_is_tried_from_both_sides() -> None:
    """The corpus has each rule at least once, and at least as many clean kernels as rules."""
    found = [{rule for rule, _ in marked(path.read_text())} for path in FINDINGS]
    assert set().union(*found) == {rule.value for rule in Rule}
    assert sum(not rules for rules in found) >= len(Rule)


@pytest.mark.parametrize("path", [*EXAMPLES, *FIGURES], ids=lambda path: path.stem)
def test_no_false_alarm(lab: Lab, path: Path) -> None:
    """Honest kernels give no finding that an expert would wave away."""
    rules = {finding.rule.value for finding in lab.xray(path.read_text()).findings}
    expected = {"registers": {"spills", "private-array"}, "narrow_types": {"narrow-loads"}}
    assert rules == AGREED.get(path.stem, expected.get(path.stem, set()))


def test_finding_as_json(lab: Lab) -> None:
    """A finding in JSON has its rule, kernel, line, message and advice."""
    path = next(path for path in FINDINGS if path.stem == "bank_conflict")
    (finding,) = lab.xray(path.read_text()).to_dict()["findings"]
    assert finding["rule"] == "bank-conflict"
    assert (finding["kernel"], finding["line"]) == ("transpose", 11)
    assert "32 lanes" in finding["message"]
    assert "[N + 1]" in finding["advice"]
