"""A GPU that does not work is the machine's failure: ERROR, and nothing is blamed on the submission.

The harness for GPUs runs on the CPU runtime here; a small script replaces a guest or harness whose
device does not work.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, read
from warmfront import problems, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox, Template
    from warmfront.settings import Settings

#: Answers every command as a program does whose device does not work.
BROKEN_PROGRAM = """
import struct, sys
with open(sys.argv[1] + "/commands", "rb") as commands, open(sys.argv[1] + "/answers", "wb") as answers:
    while header := commands.read(16):
        _, size, nonce = struct.unpack("<IIQ", header)
        commands.read(size)
        error = b"hipGetDeviceCount: hipErrorNoDevice"
        answers.write(struct.pack("<IIQ", 3, len(error), nonce) + error)
        answers.flush()
"""


class DeviceToolchain(CpuToolchain):
    """The CPU toolchain with memory of its own, as a GPU has; some of its programs do not work.

    Attributes:
        guests: one argv for each run box that is taken; None for a guest that works.
        harnesses: the same for the boxes of the harness. The last one is repeated.
    """

    shared_memory = False
    folder: Path
    guests: list[tuple[str, ...] | None]
    harnesses: list[tuple[str, ...] | None]

    def run_template(self, settings: Settings) -> Template:
        """Return the next guest's box."""
        return self._next(super().run_template(settings), self.guests)

    def harness_template(self, settings: Settings) -> Template:
        """Return the next harness's box."""
        return self._next(super().harness_template(settings), self.harnesses)

    def _next(self, template: Template, programs: list[tuple[str, ...] | None]) -> Template:
        argv = programs.pop(0) if len(programs) > 1 else programs[0]
        template = replace(template, env={**template.env, "HIPCPU_IPC_DIR": str(self.folder)})
        if argv is None:
            return template
        return replace(template, argv=(*argv, template.argv[1]))


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    """Make a folder outside /tmp, which each box without isolation replaces by its own."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture(name="sandbox")
def _sandbox() -> Iterator[Sandbox]:
    sandbox = open_sandbox(TRUSTED)
    yield sandbox
    sandbox.close()


@pytest.fixture(name="broken")
def _broken(folder: Path) -> tuple[str, ...]:
    program = folder / "broken.py"
    program.write_text(BROKEN_PROGRAM)
    return (sys.executable, str(program))


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
    sandbox: Sandbox, folder: Path, broken: tuple[str, ...]
) -> None:
    """The first HIP calls fail before the submission is loaded: ERROR with the call's own error."""
    verdict = _judge(sandbox, folder, "honest", guests=[broken])
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert "hipGetDeviceCount: hipErrorNoDevice" in verdict["message"]


def test_a_guest_that_was_ended_before_its_job_is_replaced(sandbox: Sandbox, folder: Path) -> None:
    """A reset of the GPU ends the boxes that wait; the next submission does not notice."""
    dead = ("/bin/sh", "-c", "exit 134", "guest")
    verdict = _judge(sandbox, folder, "honest", guests=[None, dead, None])
    assert verdict["status"] == "CHECKED", verdict


@pytest.mark.parametrize(
    ("attack", "status"), [("aborts", "RUNTIME_ERROR"), ("endless_host", "TIME_LIMIT_EXCEEDED")]
)
def test_after_a_crash_the_gpu_is_checked(
    sandbox: Sandbox, folder: Path, broken: tuple[str, ...], attack: str, status: str
) -> None:
    """If it works the failure is the kernel's; otherwise it is the machine's, and says what failed."""
    assert _judge(sandbox, folder, attack)["status"] == status
    verdict = _judge(sandbox, folder, attack, harnesses=[None, broken])
    assert (verdict["status"], verdict["code"]) == ("ERROR", "GPU_FAILED"), verdict
    assert "hipErrorNoDevice" in verdict["message"]
