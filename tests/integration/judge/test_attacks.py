"""Every known attack on the judge gets its expected verdict, in bubblewrap and in Docker."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, Attack, all_attacks, read
from warmfront import problems
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint, is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warmfront.judge import Judge

HONEST = read(ATTACKS / "honest.hip")


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


def judge_source(judge: Judge, source: str, endpoint: str) -> list[dict[str, Any]]:
    """Judge a source for `relu` and return all events."""
    submission = JudgeRequest(
        source=source, problem=problems.get("relu"), dtype=Dtype.FLOAT32, endpoint=Endpoint(endpoint)
    )
    return [event.fields() for event in judge.judge(submission)]


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_an_attack_gets_its_verdict_and_affects_nothing_else(
    judge: Judge, attack: Attack, listener: socket.socket, secret: Path
) -> None:
    """Verdict, code and message are as expected, and an honest kernel is still accepted afterwards."""
    port = listener.getsockname()[1]
    source = attack.source.replace("@PORT@", str(port)).replace("@SECRET@", str(secret))
    events = judge_source(judge, source, attack.endpoint)
    last, text = events[-1], json.dumps(events, ensure_ascii=False)
    assert last["status"] in attack.verdicts, last
    assert not attack.codes or last["code"] in attack.codes, last
    for words in attack.says:
        assert words in f"{last['message']} {last['hint']}", last
    for words in attack.never:
        assert words not in text
    terminal = [event for event in events if is_terminal(event["status"], Endpoint(attack.endpoint))]
    assert terminal == [last]
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert judge_source(judge, HONEST.source, "checker")[-1]["status"] == "CHECKED"


def test_a_failure_has_a_hint(judge: Judge) -> None:
    """The last event of a failed submission has a message and a hint."""
    last = judge_source(judge, read(ATTACKS / "empty_body.hip").source, "checker")[-1]
    assert last["message"]
    assert last["hint"]
