"""Every known way to break or cheat the judge gets the verdict it must, in bubblewrap and in Docker."""

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
    """A listener of our own on loopback, which no sandbox may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


@pytest.fixture(name="secret")
def _secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file and a variable of the judge's, which no sandbox may read."""
    path = tmp_path / "secret"
    path.write_text("the seed of tomorrow")
    path.chmod(0o644)
    monkeypatch.setenv("SECRET_OF_THE_JUDGE", "42")
    return path


def judged(judge: Judge, source: str, endpoint: str) -> list[dict[str, Any]]:
    """All events of a submission for `relu`."""
    submission = JudgeRequest(
        source=source, problem=problems.get("relu"), dtype=Dtype.FLOAT32, endpoint=Endpoint(endpoint)
    )
    return [event.fields() for event in judge.judge(submission)]


@pytest.mark.parametrize("attack", all_attacks(), ids=lambda attack: attack.name)
def test_an_attack_gets_its_verdict_and_harms_nobody(
    judge: Judge, attack: Attack, listener: socket.socket, secret: Path
) -> None:
    """The verdict, code and message are the expected ones, and the next honest kernel is judged as ever."""
    port = listener.getsockname()[1]
    source = attack.source.replace("@PORT@", str(port)).replace("@SECRET@", str(secret))
    events = judged(judge, source, attack.endpoint)
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
    assert judged(judge, HONEST.source, "checker")[-1]["status"] == "CHECKED"


def test_every_failure_says_what_to_do(judge: Judge) -> None:
    """A failed submission's last event has a message and a next step."""
    last = judged(judge, read(ATTACKS / "empty_body.hip").source, "checker")[-1]
    assert last["message"]
    assert last["hint"]
