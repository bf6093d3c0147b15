"""The facts of a receipt: the commitment to the seed, the problem's revision and the machine."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from warmfront import problems
from warmfront.judge.committed_seed import CommittedSeed
from warmfront.judge.receipt_facts import cpu_model
from warmfront.problems.revision import revision_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_commitment_can_be_checked_with_sha256sum() -> None:
    """The commitment is the SHA-256 of `SEED:NONCE`, in hexadecimal."""
    seed = CommittedSeed(7, "ab" * 16)
    text = "0" * 31 + "7:" + "ab" * 16
    assert seed.commitment == hashlib.sha256(text.encode()).hexdigest()


def test_a_commitment_does_not_reveal_a_short_seed() -> None:
    """Two attempts with the same seed have different commitments."""
    assert CommittedSeed(7).commitment != CommittedSeed(7).commitment


def test_each_attempt_draws_a_new_seed() -> None:
    """A revealed seed says nothing about the next."""
    assert CommittedSeed().value != CommittedSeed().value


def test_the_revision_of_a_problem_is_the_hash_of_its_file() -> None:
    """Changing a size, a reference or a tolerance changes the revision."""
    relu = problems.get("relu")
    file = problems.__path__[0] + "/relu.py"
    with open(file, "rb") as source:  # noqa: PTH123 - one line
        assert revision_of(relu) == hashlib.sha256(source.read()).hexdigest()


def test_the_revision_of_a_problem_that_was_sent_is_the_hash_of_its_source() -> None:
    """A problem without a module is sent with its source."""
    relu = problems.get("relu")
    relu.definition = "class Twice: ..."
    assert revision_of(relu) == hashlib.sha256(b"class Twice: ...").hexdigest()


def test_the_model_of_the_cpu(tmp_path: Path) -> None:
    """The first model name of /proc/cpuinfo counts."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: EPYC 9654\nprocessor\t: 1\nmodel name\t: other\n")
    assert cpu_model(cpuinfo) == "EPYC 9654"


def test_a_cpu_without_a_model_name(tmp_path: Path) -> None:
    """The architecture is named where the kernel names no model, as on ARM."""
    assert cpu_model(tmp_path / "absent")
