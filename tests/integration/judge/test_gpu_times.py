"""Times on a stub GPU, in virtual time: the reported time is the true one, however long copies take."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, read
from warmfront import problems, settings
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.judge import Judge
from warmfront.judge.number_health import check_numbers
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox

KERNEL_MS, LAUNCH_MS = 2.0, 0.006


@pytest.fixture(name="sandbox")
def _sandbox() -> Iterator[Sandbox]:
    with closing(open_sandbox(TRUSTED)) as sandbox:
        yield sandbox


def judged(sandbox: Sandbox, name: str, copy_gbps: float) -> dict[str, Any]:
    """Return the verdict of an attack or control, whose kernel takes 2 ms on the stub GPU."""
    configured = settings.load()
    # Host code is not part of this test, and takes longer on a busy machine.
    spec = f"copy_gbps={copy_gbps:g},kernel.relu={KERNEL_MS * 1e3:g},host_allowance_us=1e6"
    toolchain = StubToolchain(configured.cache_dir, StubSpec.parse(spec))
    request = JudgeRequest(
        source=read(ATTACKS / f"{name}.hip").source,
        problem=problems.get("relu"),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.SUBMIT,
    )
    *_, verdict = Judge(toolchain, sandbox, replace(configured, bug_finder=False)).judge(request)
    return verdict.fields()


@pytest.mark.parametrize("copy_gbps", [2.0, 50.0])
def test_copies_are_not_part_of_the_time(sandbox: Sandbox, copy_gbps: float) -> None:
    """Slow copies change the time of a call by less than 2%, and nothing is missing."""
    verdict = judged(sandbox, "honest", copy_gbps)
    assert verdict["status"] == "ACCEPTED", verdict
    [timing] = verdict["benchmark_results"]
    assert timing["missing_guarantees"] == []
    assert timing["runtime_ms"] == pytest.approx(KERNEL_MS + LAUNCH_MS, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["caches_by_pointer", "replays_output", "skips_every_other_call"])
def test_forged_times_are_refused(sandbox: Sandbox, name: str) -> None:
    """A kernel that does not do the work of a timed call gets no time."""
    verdict = judged(sandbox, name, 10.0)
    assert verdict["status"] == "WRONG_ANSWER", verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", ["burns_in_small_windows", "computes_all_slots_first"])
def test_a_time_is_not_below_the_true_one(sandbox: Sandbox, name: str) -> None:
    """A kernel that moves its work between calls or windows gets at least the time of its work."""
    verdict = judged(sandbox, name, 10.0)
    if verdict["status"] == "ACCEPTED":
        assert verdict["avg_runtime_ms"] >= 0.98 * KERNEL_MS


@pytest.mark.slow
def test_the_measurements_of_the_health_checks_repeat(sandbox: Sandbox) -> None:
    """Copies, an empty call, bandwidth and spread are measured, and all of them pass."""
    configured = settings.load()
    toolchain = StubToolchain(configured.cache_dir, StubSpec.parse("host_allowance_us=1e6"))
    checks = list(check_numbers(toolchain, sandbox, configured))
    assert [check.name for check in checks] == ["copies", "empty solution", "bandwidth", "repeatability"]
    assert all(check.ok for check in checks), checks
