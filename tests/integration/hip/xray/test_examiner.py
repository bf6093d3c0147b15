"""The service's X-rays: of what was submitted, off the event loop, and never outside a sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.errors import IsolationRequired
from warmfront.hip.xray.service import XrayService
from warmfront.submission import Submission, SubmissionState

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio

SOURCE = (Path(__file__).parents[4] / "examples/leaky_relu.hip").read_text()
RECORD = Submission(
    id="sub_1",
    owner="ada",
    problem="leaky-relu",
    gpu="MI300X",
    dtype="float32",
    language="hip",
    endpoint="submit",
    file_name="mine.hip",
    code_sha256="",
    state=SubmissionState.ADMITTING,
    created_at=0.0,
)


@pytest.fixture(name="anyio_backend")
def _anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(name="xrays", scope="module")
def _xrays() -> Iterator[XrayService]:
    xrays = XrayService.open(settings.load({}, env_file=None))
    yield xrays
    xrays.close()


async def test_a_submission_is_looked_into(xrays: XrayService) -> None:
    """The event names the kernels that the target's compiler made of the source."""
    seen = await xrays.xray(RECORD, SOURCE)
    assert seen.compiles is True
    assert [kernel["name"] for kernel in seen.kernels] == ["leaky_relu"]


async def test_a_compile_error_names_the_authors_file(xrays: XrayService) -> None:
    """What does not compile says so, with the name that its author gave the file."""
    seen = await xrays.xray(RECORD, f"{SOURCE}\nint broken = ;\n")
    assert seen.compiles is False
    assert seen.message.startswith("mine.hip:")


async def test_a_problem_that_is_not_ours_is_no_obstacle(xrays: XrayService) -> None:
    """A submission that brought its own problem is looked into without it."""
    seen = await xrays.xray(replace(RECORD, problem="brought-along"), SOURCE)
    assert seen.compiles is True


async def test_switched_off_it_says_so_and_nothing_else() -> None:
    """Without X-rays a submission is neither cleared nor blamed; one that asks for its X-ray gets it."""
    xrays = XrayService.open(replace(settings.load({}, env_file=None), xray=False))
    try:
        seen = await xrays.xray(RECORD, "int broken = ;")
        asked_for = await xrays.xray(replace(RECORD, endpoint="xray"), SOURCE)
    finally:
        xrays.close()
    assert (seen.compiles, seen.notes) == (None, ["WARMFRONT_XRAY is false."])
    assert asked_for.compiles is True


async def test_a_source_that_nobody_submitted_has_a_whole_report(xrays: XrayService) -> None:
    """The API's X-ray is for any of the architectures, with no problem in sight."""
    report = await xrays.report(SOURCE, arch="gfx90a", problem=None, dtype=None)
    assert (report.arch, report.compiles) == ("gfx90a", True)


def test_without_isolation_there_is_no_service() -> None:
    """A service takes code from others: the switch that runs it outside a sandbox is refused."""
    with pytest.raises(IsolationRequired):
        XrayService.open(replace(settings.load({}, env_file=None), isolation=False))
