"""Why a VM failed to provision, with the last output of its worker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.dstack_fleets import FLEET
from warmfront import settings
from warmfront.errors import DstackFailed
from warmfront.providers.dstack import boot_errors
from warmfront.providers.dstack.boot_errors import boot_error, kind_of_answer, lost_race_for_fleet
from warmfront.providers.dstack.resources import DstackFleet, DstackRun
from warmfront.providers.dstack.run_outcome import RunOutcome
from warmfront.provisioning import FailureKind

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
    client: Any = ClientWithOutput(output)

    async def error() -> ProviderError:
        return await boot_error(client, OURS, RUN, RunOutcome.EXITED)

    assert asyncio.run(error()).message == message


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("Size is not available in this region.", None),
        ("creating this/these droplet(s) will exceed your droplet limit", FailureKind.NO_QUOTA),
        (
            "401 Client Error: Unauthorized for url: https://api.devcloud.amd.com/v2/droplets",
            FailureKind.DENIED,
        ),
        ("403 Client Error: Forbidden for url: https://api.devcloud.amd.com/v2/droplets", FailureKind.DENIED),
        (
            "402 Client Error: Payment Required for url: https://admin.hotaisle.app/api",
            FailureKind.NO_CREDITS,
        ),
        ("Your account has insufficient balance", FailureKind.NO_CREDITS),
        ("a in x/atl1: 403 Client Error: Forbidden; a in x/nyc2: 403 Client Error", FailureKind.DENIED),
        ("a in x/atl1: 403 Client Error: Forbidden; b in y/us: Size is not available", None),
        (
            "500 Server Error: Internal Server Error for url: https://api.devcloud.amd.com/v2/droplets",
            FailureKind.UNREACHABLE,
        ),
        ("429 Client Error: Too Many Requests for url: https://x/v2/droplets", FailureKind.UNREACHABLE),
        ("a in x/atl1: 403 Client Error: Forbidden; b in y/us: 503 Server Error", FailureKind.UNREACHABLE),
    ],
)
def test_the_answer_of_the_cloud_is_understood(answer: str, kind: FailureKind | None) -> None:
    """A quota, a refused key, a forbidden action and missing credits are distinguished from a shortage."""
    found = kind_of_answer(answer)
    assert (found[0] if found else None) is kind


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("a in hotaisle/us: 401 Client Error: Unauthorized", "hotaisle rejects the API key"),
        (
            "a in hotaisle/us: droplet limit; b in amddevcloud/atl1: droplet limit",
            "The account of amddevcloud and hotaisle has reached its quota",
        ),
        ("a in hotaisle/us: Not available", "No MI300X is available on amddevcloud or hotaisle (a in"),
    ],
)
def test_only_the_backends_that_answered_are_named(
    answers: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two backends, the message says which of them refused."""

    async def no_plan(*_: object) -> None:
        """Return no error of the plan."""

    monkeypatch.setattr(boot_errors, "_plan_error", no_plan)
    run = replace(RUN, job_termination_message=f"All failed.\nErrors: {answers}.", gpu="MI300X")
    both = replace(OURS, backend="amddevcloud,hotaisle")
    assert message in _no_capacity(run, FLEET, both).message


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        (0, "Raise AMD_FLEET_MAX_NODES and run `warmfront fleet create`"),
        (3, "`warmfront fleet create` applies AMD_FLEET_MAX_NODES=3 to it"),
    ],
)
def test_a_full_fleet_has_its_own_limit(wanted: int, hint: str) -> None:
    """The limit of the fleet counts, which may be lower than the setting."""
    fleet = replace(FLEET, max_nodes=0)
    error = _no_capacity(RUN, fleet, replace(OURS, fleet_max_nodes=wanted))
    assert error.kind is FailureKind.FLEET_FULL
    assert error.message == f"The fleet {FLEET.name} has reached its limit of 0 VMs (AMD_FLEET_MAX_NODES)."
    assert hint in (error.hint or "")


def _no_capacity(run: DstackRun, fleet: DstackFleet, ours: settings.Settings) -> ProviderError:
    """Return the error of a run that got no VM on this fleet."""

    class Client:
        """A client of a server with this fleet."""

        async def fleet(self, _: str) -> DstackFleet:
            """Return the fleet."""
            return fleet

    client: Any = Client()
    return asyncio.run(boot_error(client, ours, run, RunOutcome.NO_CAPACITY))


def test_the_answers_are_found_in_what_dstack_reports() -> None:
    """Dstack puts them after its own summary."""
    message = (
        "Failed to provision in fleet 'f': tried 2 of 2 offers, all failed.\n"
        "Errors: gpu-mi300x1-192gb in amddevcloud/atl1: 403 Client Error: Forbidden.\n"
        "See https://dstack.ai/docs/guides/troubleshooting/#provisioning-fails"
    )
    run = replace(RUN, job_termination_message=message, gpu="MI300X")

    class Client:
        """A client of a server with a fleet that is not full."""

        async def fleet(self, _: str) -> DstackFleet:
            """Return the fleet."""
            return FLEET

    client: Any = Client()
    error = asyncio.run(boot_error(client, OURS, run, RunOutcome.NO_CAPACITY))
    assert error.kind is FailureKind.DENIED
    assert "403 Client Error: Forbidden" in error.message


@pytest.mark.parametrize(
    ("run", "fleet", "expected"),
    [
        (RUN, FLEET, False),
        (replace(RUN, job_termination_message="Failed to use specified fleets"), FLEET, True),
        (replace(RUN, job_termination_message="Failed to use specified fleets"), None, False),
        (
            replace(RUN, job_termination_message="Failed to use specified fleets"),
            replace(FLEET, max_nodes=0),
            False,
        ),
        (
            replace(RUN, job_termination_message="Failed to use specified fleets", instance_id="500001"),
            FLEET,
            False,
        ),
    ],
)
def test_a_fleet_that_dstack_overlooked(run: DstackRun, fleet: DstackFleet | None, expected: bool) -> None:  # noqa: FBT001 - a parameter
    """A run can be submitted again if the fleet exists and has room, and the run had no VM."""

    class Client:
        """A client of a server with this fleet."""

        async def fleet(self, _: str) -> DstackFleet | None:
            """Return the fleet."""
            return fleet

    client: Any = Client()
    found = asyncio.run(lost_race_for_fleet(client, OURS, run, RunOutcome.NO_CAPACITY))
    assert found is expected
    assert not asyncio.run(lost_race_for_fleet(client, OURS, run, RunOutcome.EXITED))
