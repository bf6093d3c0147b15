"""Every known attack on the judge gets its expected verdict, in bubblewrap and in Docker.

Honest controls are part of the corpus and are judged between the attacks, so a sandbox or a judge that an
attack damaged shows. The quick run judges every attack in bubblewrap, and in Docker those for which the kind
of sandbox matters; the others are slow tests there, and so are variants of other attacks.
"""

from __future__ import annotations

import re
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, FAMILIES, Attack, all_attacks, mistakes, read
from warmfront import problems
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warmfront.judge import Judge

HONEST = read(ATTACKS / "honest.hip")


def _every_attack() -> Iterator[Any]:
    for sandbox in ("bubblewrap", "docker"):
        for attack in all_attacks():
            is_quick = not attack.is_slow and (sandbox == "bubblewrap" or attack.needs_each_sandbox)
            marks = () if is_quick else (pytest.mark.slow,)
            yield pytest.param(sandbox, attack, id=f"{sandbox}-{attack.name}", marks=marks)


@pytest.fixture(name="listener")
def _listener() -> Iterator[socket.socket]:
    """Open a socket on loopback that no sandbox may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


@pytest.fixture(name="secret")
def _secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a file and an environment variable that no sandbox may read."""
    path = tmp_path / "secret"
    path.write_text("the secret seed")
    path.chmod(0o644)
    monkeypatch.setenv("SECRET_OF_THE_JUDGE", "42")
    return path


def judge_source(judge: Judge, source: str, endpoint: str, problem: str = "relu") -> list[dict[str, Any]]:
    """Judge a source and return all events."""
    submission = JudgeRequest(
        source=source, problem=problems.get(problem), dtype=Dtype.FLOAT32, endpoint=Endpoint(endpoint)
    )
    return [event.fields() for event in judge.judge(submission)]


@pytest.mark.parametrize(("box_maker", "attack"), list(_every_attack()), indirect=["box_maker"])
def test_an_attack_gets_its_verdict(
    judge: Judge, attack: Attack, listener: socket.socket, secret: Path
) -> None:
    """Verdict, code and message are as expected, the time is possible, and nothing outside is reached."""
    port = listener.getsockname()[1]
    source = attack.source.replace("@PORT@", str(port)).replace("@SECRET@", str(secret))
    events = judge_source(judge, source, attack.endpoint, attack.problem)
    assert mistakes(attack, events) == []
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_an_honest_kernel_passes_after_the_attacks(judge: Judge) -> None:
    """No attack has damaged the sandbox."""
    assert judge_source(judge, HONEST.source, "checker")[-1]["status"] == "CHECKED"


def test_a_failure_has_a_hint(judge: Judge) -> None:
    """The last event of a failed submission has a message and a hint."""
    last = judge_source(judge, read(ATTACKS / "empty_body.hip").source, "checker")[-1]
    assert last["message"]
    assert last["hint"]


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_the_header_of_an_attack_is_complete(attack: Attack) -> None:
    """Every file has a summary and a known family; an attack also has its origin and an honest control."""
    assert attack.summary
    assert attack.family in FAMILIES
    known = "verdict|code|endpoint|problem|says|never|family|first seen|control|sandbox|caught|tests|time"
    header = re.findall(r"^// ([a-z ]+): ", attack.source.partition("#")[0], re.MULTILINE)
    assert [key for key in header if not re.fullmatch(known, key)] == []
    assert not attack.forges_time or "#if ATTACK" in attack.source
    if not attack.is_honest:
        assert attack.first_seen
        assert read(ATTACKS / f"{attack.control}.hip").is_honest
