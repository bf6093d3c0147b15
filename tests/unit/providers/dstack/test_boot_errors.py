"""Why a VM failed to provision, with what its worker printed last."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.errors import DstackFailed
from warmfront.providers.dstack.pool_mode import DstackProvider
from warmfront.providers.dstack.resources import DstackRun
from warmfront.providers.dstack.run_outcome import RunOutcome

if TYPE_CHECKING:
    from warmfront.errors import ProviderError

OURS = settings.load({}, env_file=None)
RUN = DstackRun(
    id="1",
    name="wf-vm-1",
    status="failed",
    status_message="",
    termination_reason=None,
    error=None,
    fleet=OURS.fleet_name,
    submitted_at=0.0,
    cost_usd=OURS.rate_usd_per_h * 0,
    job_termination_message="exit status 1",
)


class ClientWithOutput:
    """A client of a server that has the output of one run; None: it cannot be read."""

    project = "main"

    def __init__(self, output: bytes | None) -> None:
        self._output = output

    async def logs(self, name: str) -> bytes:
        """Return the output."""
        assert name == RUN.name
        if self._output is None:
            raise DstackFailed("no logs")
        return self._output


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (b"starting\nThe image has no hipcc.\n\n", "The worker failed (The image has no hipcc)."),
        (b"\x1b[31mred\x1b[0m\n", "The worker failed ([31mred[0m)."),
        (b"x" * 9000, f"The worker failed ({'x' * 500})."),
        (b"", "The worker failed (exit status 1)."),
        (None, "The worker failed (exit status 1)."),
    ],
)
def test_the_last_line_of_the_worker_is_the_reason(output: bytes | None, message: str) -> None:
    """It is quoted without control characters and cut; without output, dstack's reason is used."""
    provider = DstackProvider(OURS, ClientWithOutput(output))  # type: ignore[arg-type]  # implements what is called

    async def error() -> ProviderError:
        return await provider._boot_error(RUN, RunOutcome.EXITED)

    assert asyncio.run(error()).message == message
