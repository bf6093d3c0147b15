"""The X-ray service: events for submissions, reports for plain sources, always in a sandbox."""

from __future__ import annotations

import asyncio
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
#: Fits into the LDS of an MI355X only.
LARGE_TILE = """\
__global__ void k(float* x) {
    __shared__ float tile[20000];
    tile[threadIdx.x] = *x;
    __syncthreads();
    *x = tile[19999 - threadIdx.x];
}
"""
SUBMISSION = Submission(
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


async def test_a_submission_gets_an_event(xrays: XrayService) -> None:
    """The event lists the kernels of the source."""
    event = await xrays.xray(SUBMISSION, SOURCE)
    assert event.compiles is True
    assert [kernel["name"] for kernel in event.kernels] == ["leaky_relu"]


async def test_a_compile_error_names_the_authors_file(xrays: XrayService) -> None:
    """The message of a compile error uses the author's file name."""
    event = await xrays.xray(SUBMISSION, f"{SOURCE}\nint broken = ;\n")
    assert event.compiles is False
    assert event.message.startswith("mine.hip:")


@pytest.mark.parametrize(
    ("gpu", "arch", "limit"),
    [("MI325X", "gfx942", 65_536), ("MI210", "gfx90a", 65_536), ("MI355X", "gfx950", None)],
)
async def test_the_event_is_about_the_gpu_of_the_submission(
    xrays: XrayService, gpu: str, arch: str, limit: int | None
) -> None:
    """Architecture, GPU name and LDS limit are those of the GPU that the submission requests."""
    event = await xrays.xray(replace(SUBMISSION, gpu=gpu), LARGE_TILE)
    assert event.arch == arch
    assert event.gpu == gpu
    assert event.compiles is (limit is None)
    assert limit is None or f"a compute unit of {arch} has {limit:,}" in event.message


async def test_a_submission_with_its_own_problem(xrays: XrayService) -> None:
    """A submission for a problem that the service does not have gets an X-ray without the problem."""
    event = await xrays.xray(replace(SUBMISSION, problem="own-problem"), SOURCE)
    assert event.compiles is True


async def test_disabled_xrays() -> None:
    """With WARMFRONT_XRAY=false the event has only a note, except for the endpoint `xray`."""
    xrays = XrayService.open(replace(settings.load({}, env_file=None), xray=False))
    try:
        event = await xrays.xray(SUBMISSION, "int broken = ;")
        requested = await xrays.xray(replace(SUBMISSION, endpoint="xray"), SOURCE)
    finally:
        xrays.close()
    assert (event.compiles, event.notes) == (None, ["WARMFRONT_XRAY is false."])
    assert requested.compiles is True


async def test_a_plain_source_gets_a_full_report(xrays: XrayService) -> None:
    """The API can X-ray a source for any architecture, without a submission or a problem."""
    report = await xrays.report(SOURCE, arch="gfx90a", problem=None, dtype=None)
    assert (report.arch, report.compiles) == ("gfx90a", True)


def _boxes(folder: Path) -> list[Path]:
    """Return the output files of compilers in boxes."""
    return list(folder.glob("*/*/kernels.s"))


#: Takes minutes to compile.
ENDLESS = """
constexpr long spin() { long sum = 0; for (long i = 0; i < 900000; ++i) sum += i % 7; return sum; }
template <int N> struct Spin { static constexpr long value = spin() + N + Spin<N - 1>::value; };
template <> struct Spin<0> { static constexpr long value = 0; };
static_assert(Spin<800>::value != 1);
"""


async def test_a_request_has_its_own_time_limit(tmp_path: Path) -> None:
    """The failure names the limit and the setting."""
    short = replace(settings.load({}, env_file=None), xray_timeout_s=0.3, box_dir=tmp_path)
    xrays = XrayService.open(short)
    try:
        report = await xrays.report(ENDLESS, arch="gfx942", problem=None, dtype=None)
    finally:
        xrays.close()
    assert report.failure is not None
    assert report.failure.code == "COMPILE_TIME_LIMIT"
    assert "0.3 s of CPU time (WARMFRONT_XRAY_TIMEOUT)" in report.failure.message


async def test_a_dropped_request_destroys_its_box(tmp_path: Path) -> None:
    """When the cancellation is done, no process or file of the compiler is left, and the next X-ray runs."""
    long = replace(settings.load({}, env_file=None), xray_timeout_s=600.0, compile_timeout_s=600.0)
    xrays = XrayService.open(replace(long, box_dir=tmp_path))
    try:
        task = asyncio.create_task(xrays.report(ENDLESS, arch="gfx942", problem=None, dtype=None))
        while not _boxes(tmp_path):  # noqa: ASYNC110 - a box has no event for its start
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert _boxes(tmp_path) == []
        report = await xrays.report(SOURCE, arch="gfx942", problem=None, dtype=None)
        assert report.compiles
    finally:
        xrays.close()


def test_isolation_is_required() -> None:
    """The service does not open when isolation is disabled, because it compiles other people's code."""
    with pytest.raises(IsolationRequired):
        XrayService.open(replace(settings.load({}, env_file=None), isolation=False))
