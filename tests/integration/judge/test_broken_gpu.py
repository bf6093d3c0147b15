"""A GPU that does not work is a failure of the machine, so the verdict is ERROR."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, read
from tests.support.device_toolchain import DeviceToolchain, broken, folder, trusted_sandbox
from warmfront import problems, settings
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

__all__ = ["broken", "folder", "trusted_sandbox"]  # fixtures: pytest finds them by name


def _judge(sandbox: Sandbox, folder: Path, attack: str, **programs: Any) -> dict[str, Any]:
    configured = replace(settings.load(), bug_finder=False, case_timeout_s=2.0)
    toolchain = DeviceToolchain(configured.cache_dir)
    toolchain.folder = folder
    toolchain.guests = programs.get("guests", [None])
    toolchain.harnesses = programs.get("harnesses", [None])
    request = JudgeRequest(
        source=read(ATTACKS / f"{attack}.hip").source,
        problem=problems.get("relu"),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
    )
    *_, verdict = Judge(toolchain, sandbox, configured).judge(request)
    return verdict.fields()


def test_a_gpu_that_does_not_work_is_not_blamed_on_the_submission(
    trusted_sandbox: Sandbox, folder: Path, broken: tuple[str, ...]
) -> None:
    """The first HIP calls fail before the submission is loaded: ERROR with the call's own error."""
    verdict = _judge(trusted_sandbox, folder, "honest", guests=[broken])
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert "hipGetDeviceCount: hipErrorNoDevice" in verdict["message"]


def test_a_guest_that_was_ended_before_its_job_is_replaced(trusted_sandbox: Sandbox, folder: Path) -> None:
    """A reset of the GPU ends the waiting boxes; the next submission is not affected."""
    dead = ("/bin/sh", "-c", "exit 134", "guest")
    verdict = _judge(trusted_sandbox, folder, "honest", guests=[None, dead, None])
    assert verdict["status"] == "CHECKED", verdict


@pytest.mark.parametrize(
    ("attack", "status"), [("aborts", "RUNTIME_ERROR"), ("endless_host", "TIME_LIMIT_EXCEEDED")]
)
def test_after_a_crash_the_gpu_is_checked(
    trusted_sandbox: Sandbox, folder: Path, broken: tuple[str, ...], attack: str, status: str
) -> None:
    """If it works, the kernel failed; otherwise the machine failed, and the verdict says how."""
    assert _judge(trusted_sandbox, folder, attack)["status"] == status
    verdict = _judge(trusted_sandbox, folder, attack, harnesses=[None, broken])
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert "hipErrorNoDevice" in verdict["message"]
