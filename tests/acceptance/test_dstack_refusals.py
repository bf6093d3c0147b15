"""Errors of a service that cannot get VMs from dstack; no VM is left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import open_stack
from tests.support.dstack_services import IMAGE, User, dstack_service, temporary_home
from tests.support.services import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack

#: The real dstack server is slow.
pytestmark = [pytest.mark.slow, pytest.mark.dstack]


@pytest.fixture(scope="module", name="stack")
def _stack() -> Iterator[Stack]:
    with temporary_home() as folder, open_stack(folder) as stack:
        yield stack


@pytest.mark.parametrize(
    ("environ", "code", "words"),
    [
        ({"DSTACK_TOKEN": "wrong"}, 2, ("denies this token", "DSTACK_TOKEN")),
        ({"DSTACK_PROJECT": "nowhere"}, 2, ("'nowhere'", "DSTACK_PROJECT")),
    ],
)
def test_start_fails_with_reason_and_hint(
    stack: Stack, tmp_path: Path, environ: dict[str, str], code: int, words: tuple[str, str]
) -> None:
    """If the dstack server denies access, the service exits with the reason and a hint."""
    valid = {
        "WARMFRONT_PROVIDER": "dstack",
        "DSTACK_SERVER_URL": stack.server.url,
        "DSTACK_TOKEN": stack.server.token,
        "DSTACK_PROJECT": stack.server.project,
        "WARMFRONT_WORKER_IMAGE": IMAGE,
    }
    done = Service(tmp_path, **(valid | environ)).run("serve")
    assert done.returncode == code, done.stderr
    *_, error, hint = done.stderr.strip().splitlines()
    assert words[0] in error
    assert hint.startswith("  → ")
    assert words[1] in hint


def test_fleet_deleted_while_the_service_runs(stack: Stack, tmp_path: Path) -> None:
    """The submission's error says that the fleet does not exist, and the log how to create it."""
    with dstack_service(stack, tmp_path) as service:
        stack.remove_fleet(service.environment["AMD_FLEET_NAME"])
        last = User(service, "alice").submit_and_wait()[-1]
        assert last["status"] == "ERROR"
        assert f"The fleet {service.environment['AMD_FLEET_NAME']} does not exist" in last["message"]
        assert any("`warmfront fleet create`" in line for line in service.lines)


def test_image_that_cannot_be_pulled(stack: Stack, tmp_path: Path) -> None:
    """The submission's error names the setting; every VM that was tried has ended and is in the ledger."""
    image = "registry.example/nothing:1"
    stack.cloud.switches.unpullable.add(image)
    before = len(stack.cloud.bill())
    unpinned = {"WARMFRONT_WORKER_IMAGE": image, "WARMFRONT_REQUIRE_DIGESTS": "false"}
    with dstack_service(stack, tmp_path, **unpinned) as service:
        user = User(service, "alice")
        last = user.submit_and_wait()[-1]
        assert last["status"] == "ERROR"
        assert "WARMFRONT_WORKER_IMAGE" in last["message"]
        tried = user.wait_until_all_vms_ended()
        assert {vm["state"] for vm in tried} == {"FAILED"}
        assert len(stack.cloud.bill()) - before == len(tried)
        assert not stack.cloud.droplets
        assert user.spent_usd() > 0
