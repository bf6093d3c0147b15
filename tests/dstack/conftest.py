"""One simulated cloud and one real dstack server for each worker that runs tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import open_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.dstack.harness import Stack


@pytest.fixture(scope="session", name="stack")
def _stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """For tests that change no switch and kill no server."""
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("dstack")
    patch.setenv("HOME", str(folder / "home"))
    with open_stack(folder) as stack:
        yield stack
    patch.undo()
