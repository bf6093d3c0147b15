"""The health of a VM is checked again after a crash and a timeout, before the verdict is given."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from warmfront import gpus, settings
from warmfront.errors import SandboxFailed
from warmfront.events import Event, Failed
from warmfront.hip.gpu_health import GpuHealth, HealthCheck
from warmfront.judge.cancellation import CancellationToken
from warmfront.listener import judge_runtime
from warmfront.listener.judge_runtime import JudgeRuntime
from warmfront.listener.protocol import ExecuteRequest
from warmfront.problems.spec import Scale
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

ATTEMPT = ExecuteRequest(
    id="att_1", source="//", file_name="x.hip", problem="relu", dtype="float32", endpoint="checker"
)
HEALTHY = GpuHealth(checks=(HealthCheck(name="ECC", ok=True, detail="no errors"),), stage="quick")
BROKEN = GpuHealth(checks=(HealthCheck(name="ECC", ok=False, detail="3 memory errors"),), stage="quick")


class GpuToolchain:
    """A toolchain with a GPU."""

    name, simulated, gpu, scale = "rocm", False, gpus.MI300X, Scale.GPU
    checked_build = device = None
    shared_memory = False

    def compile_template(self, _: object) -> str:
        """Return a template."""
        return "compile"

    def run_template(self, _: object) -> str:
        """Return a template."""
        return "run"


class BoxlessSandbox:
    """A sandbox that makes no box; `works` says whether it could."""

    name = detail = "none"
    works = True

    def prepare(self, template: object) -> None:
        """Do nothing."""

    def settle(self) -> None:
        """Do nothing."""

    def take(self, _template: object) -> Any:
        """Return a box that only has `go`, or fail like a sandbox without its daemon."""
        if not self.works:
            raise SandboxFailed("The connection to the Docker daemon was lost.")
        return nullcontext(type("Box", (), {"go": lambda _: None})())

    def close(self) -> None:
        """Do nothing."""


class OneVerdictJudge:
    """A judge that always gives the same verdict."""

    def __init__(self, verdict: Verdict, code: str) -> None:
        self.verdict, self.code = verdict, code

    def judge(self, *_: object, **__: object) -> Iterator[Event]:
        """Yield the verdict."""
        yield Failed(verdict=self.verdict, code=self.code, message="the kernel failed")


class Bench:
    """A judge runtime with a verdict and a health that a test chooses."""

    def __init__(self, verdict: Verdict, monkeypatch: pytest.MonkeyPatch, *, code: str = "CODE") -> None:
        self.checks = 0
        self.health = HEALTHY
        monkeypatch.setattr(judge_runtime, "check_gpu", self._check_gpu)
        self.sandbox = BoxlessSandbox()
        configured = replace(settings.load({}, env_file=None), bug_finder=False)
        self.runtime = JudgeRuntime(GpuToolchain(), self.sandbox, configured)  # type: ignore[arg-type]  # what is used
        self.runtime._judge = OneVerdictJudge(verdict, code)  # type: ignore[assignment]  # what is used

    def _check_gpu(self, *_: object, **__: object) -> GpuHealth:
        self.checks += 1
        return self.health

    def run(self) -> dict[str, Any]:
        """Judge one attempt and return its verdict."""
        events = self.runtime.events(ATTEMPT, run_slot=nullcontext(), cancellation=CancellationToken())
        return list(events)[-1].fields()


CRASHES = [Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.ERROR]


@pytest.mark.parametrize("verdict", CRASHES)
def test_a_crash_on_a_healthy_vm_is_the_kernels(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict stands, and the VM continues."""
    bench = Bench(verdict, monkeypatch)
    assert bench.run()["status"] == verdict
    assert (bench.checks, bench.runtime.status.failure) == (1, "")


@pytest.mark.parametrize("verdict", CRASHES)
def test_a_crash_on_a_broken_vm_is_not_the_kernels(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict names the fault, and further attempts get the same verdict without being judged."""
    bench = Bench(verdict, monkeypatch)
    bench.health = BROKEN
    for _ in range(2):
        fields = bench.run()
        assert (fields["status"], fields["code"]) == ("ERROR", "VM_UNHEALTHY")
        assert fields["message"] == "ECC: 3 memory errors"
    assert bench.checks == 1
    assert bench.runtime.status.gpu_health == BROKEN.to_json()


def test_other_verdicts_need_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong answer does not look like a broken machine."""
    bench = Bench(Verdict.WRONG_ANSWER, monkeypatch)
    assert bench.run()["status"] == "WRONG_ANSWER"
    assert bench.checks == 0


@pytest.mark.parametrize("code", ["GPU_FAILED", "TOOLCHAIN_FAILED"])
def test_a_gpu_that_does_not_work_in_a_new_box(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's files look healthy, but our own program could not use the GPU."""
    bench = Bench(Verdict.ERROR, monkeypatch, code=code)
    for _ in range(2):
        assert bench.run()["code"] == "VM_UNHEALTHY"
    assert bench.runtime.status.failure == "the kernel failed"


def test_a_sandbox_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """After an ERROR a box is started: without its Docker daemon the VM can no longer judge."""
    bench = Bench(Verdict.ERROR, monkeypatch)
    bench.sandbox.works = False
    assert bench.run()["message"] == "The connection to the Docker daemon was lost."
    assert bench.run()["code"] == "VM_UNHEALTHY"


def test_a_vm_is_ready_before_its_modules_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warming up does not wait for NumPy; closing waits until nothing is being imported."""
    may_end, has_ended = threading.Event(), threading.Event()

    def load() -> None:
        may_end.wait()
        has_ended.set()

    monkeypatch.setattr(judge_runtime, "_load_modules", load)
    runtime = Bench(Verdict.CHECKED, monkeypatch).runtime
    runtime.warm_up()
    assert not has_ended.is_set()
    may_end.set()
    runtime.close()
    assert has_ended.is_set()
