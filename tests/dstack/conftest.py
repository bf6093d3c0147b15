"""One simulated cloud and one real dstack server for each worker that runs tests, and fleets on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from tests.dstack.harness import open_stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches


class MakeFleet(Protocol):
    """How a test makes a fleet."""

    def __call__(self, **changes: Any) -> str:
        """Create one of its own, as `Stack.apply_fleet` does; its name."""


@pytest.fixture(scope="package", name="stack")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """For tests that kill no server. It ends with them: with short intervals it never rests."""
    folder = tmp_path_factory.mktemp("dstack")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        with open_stack(folder) as stack:
            yield stack


@pytest.fixture(name="own_stack")
def _own_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A stack for one test, which may do with the server as it likes."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path) as stack:
        yield stack


@pytest.fixture(name="switches")
def _switches(stack: Stack) -> Iterator[Switches]:
    """What can go wrong with the cloud; as it was, afterwards."""
    yield stack.cloud.switches
    stack.cloud.switches.reset()


@pytest.fixture(name="fleet")
def _fleet(stack: Stack, request: pytest.FixtureRequest) -> Iterator[MakeFleet]:
    """Makes fleets; they, their runs and their VMs are gone afterwards."""
    made: list[str] = []

    def make(**changes: Any) -> str:
        words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_")).strip("-")
        name = f"{words[:30]}-{len(made)}"
        made.append(name)
        stack.apply_fleet(name, **changes)
        return name

    yield make
    stack.cloud.switches.reset()
    for name in made:
        stack.remove_fleet(name)
