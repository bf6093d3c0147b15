"""What a service on dstack says when it cannot have a VM, and that it leaves none behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import open_stack
from tests.support.dstack_services import User, at_home, serving_dstack
from tests.support.services import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack

#: A real server takes its time.
pytestmark = [pytest.mark.slow, pytest.mark.dstack]


@pytest.fixture(scope="module", name="stack")
def _stack() -> Iterator[Stack]:
    with at_home() as folder, open_stack(folder) as stack:
        yield stack


@pytest.mark.parametrize(
    ("environ", "code", "words"),
    [
        ({"DSTACK_SERVER_URL": "http://127.0.0.1:9"}, 3, ("No dstack server responds", "DSTACK_SERVER_URL")),
        ({"DSTACK_TOKEN": "wrong"}, 2, ("denies this token", "DSTACK_TOKEN")),
        ({"DSTACK_PROJECT": "nowhere"}, 2, ("'nowhere'", "DSTACK_PROJECT")),
    ],
)
def test_a_service_says_why_it_does_not_start(
    stack: Stack, tmp_path: Path, environ: dict[str, str], code: int, words: tuple[str, str]
) -> None:
    """A dstack server that is away, or denies us, ends the start with its reason and the next step."""
    there = {
        "WARMFRONT_PROVIDER": "dstack",
        "DSTACK_SERVER_URL": stack.server.url,
        "DSTACK_TOKEN": stack.server.token,
        "DSTACK_PROJECT": stack.server.project,
    }
    done = Service(tmp_path, **(there | environ)).run("serve")
    assert done.returncode == code, done.stderr
    *_, said, step = done.stderr.strip().splitlines()
    assert words[0] in said
    assert step.startswith("  → ")
    assert words[1] in step


def test_a_fleet_that_was_deleted_meanwhile(stack: Stack, tmp_path: Path) -> None:
    """Who waits is told that there is no such fleet, and what makes it."""
    with serving_dstack(stack, tmp_path) as service:
        stack.remove_fleet(service.environment["AMD_FLEET_NAME"])
        last = User(service, "alice").judged()[-1]
        assert last["status"] == "ERROR"
        assert "The fleet does not exist: create it with `warmfront fleet create`" in last["message"]


def test_an_image_that_cannot_be_pulled(stack: Stack, tmp_path: Path) -> None:
    """Who waits is told which setting to look at; every VM that was tried is ended, and on the ledger."""
    image = "registry.example/nothing:1"
    stack.cloud.switches.unpullable.add(image)
    before = len(stack.cloud.bill())
    with serving_dstack(stack, tmp_path, WARMFRONT_WORKER_IMAGE=image) as service:
        user = User(service, "alice")
        last = user.judged()[-1]
        assert last["status"] == "ERROR"
        assert "WARMFRONT_WORKER_IMAGE" in last["message"]
        tried = user.wait_until_no_vm_is_alive()
        assert {vm["state"] for vm in tried} == {"FAILED"}
        assert len(stack.cloud.bill()) - before == len(tried)
        assert not stack.cloud.droplets
        assert user.spent_usd() > 0
