"""Fixtures: one fake cloud and one real dstack server per test worker, and fleets on them."""

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
    """The type of the `fleet` fixture."""

    def __call__(self, **changes: Any) -> str:
        """Create a fleet for this test, as `Stack.apply_fleet` does, and return its name."""


@pytest.fixture(scope="package", name="stack")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack for tests that do not kill the server. It ends with them, because it uses much CPU time."""
    folder = tmp_path_factory.mktemp("dstack")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder / "home"))
        with open_stack(folder) as stack:
            yield stack


@pytest.fixture(name="own_stack")
def _own_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A stack for one test, which may kill the server."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path) as stack:
        yield stack


@pytest.fixture(name="switches")
def _switches(stack: Stack) -> Iterator[Switches]:
    """The cloud's switches; they are reset after the test."""
    yield stack.cloud.switches
    stack.cloud.switches.reset()


@pytest.fixture(name="fleet")
def _fleet(stack: Stack, request: pytest.FixtureRequest) -> Iterator[MakeFleet]:
    """Create fleets; they are removed with their runs and VMs after the test."""
    created: list[str] = []

    def create(**changes: Any) -> str:
        words = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_")).strip("-")
        name = f"{words[:30]}-{len(created)}"
        created.append(name)
        stack.apply_fleet(name, **changes)
        return name

    yield create
    stack.cloud.switches.reset()
    for name in created:
        stack.remove_fleet(name)
