"""The harness for GPUs, built for the CPU runtime: one source is tested here for both.

The two processes share memory by IPC handles. Boxes of the CPU runtime cannot share a folder, so these tests
run without isolation.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.attacks import ATTACKS, read
from warmfront import problems, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.judge.case_memory import GUEST_OWNS_MEMORY, DeviceMemory
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import TRUSTED, open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox, Template
    from warmfront.settings import Settings


class SeparateMemoryToolchain(CpuToolchain):
    """The CPU toolchain, with device memory that the judge does not own; it is shared in `folder`."""

    shared_memory = False
    folder: Path

    def run_template(self, settings: Settings) -> Template:
        """Return the guest's box, which opens memory in the folder."""
        template = super().run_template(settings)
        return replace(template, env={**template.env, "HIPCPU_IPC_DIR": str(self.folder)})


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    """Create a folder outside /tmp, because each box without isolation has its own /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)


@pytest.fixture(name="sandbox")
def _sandbox() -> Iterator[Sandbox]:
    sandbox = open_sandbox(TRUSTED)
    yield sandbox
    sandbox.close()


def _verdict(sandbox: Sandbox, source: str, endpoint: Endpoint, folder: Path) -> dict[str, Any]:
    configured = replace(settings.load(), bug_finder=False, bench_budget_s=0.05)
    toolchain = SeparateMemoryToolchain(configured.cache_dir)
    toolchain.folder = folder
    request = JudgeRequest(
        source=source, problem=problems.get("relu"), dtype=Dtype.FLOAT32, endpoint=endpoint
    )
    *_, verdict = Judge(toolchain, sandbox, configured).judge(request)
    return verdict.fields()


def test_an_honest_kernel_is_timed_in_memory_of_the_harness(sandbox: Sandbox, folder: Path) -> None:
    """It is accepted with every guarantee, and the copies of the harness are not part of its time."""
    verdict = _verdict(sandbox, read(ATTACKS / "honest.hip").source, Endpoint.SUBMIT, folder)
    assert verdict["status"] == "ACCEPTED", verdict
    [timing] = verdict["benchmark_results"]
    assert timing["missing_guarantees"] == []
    assert timing["runtime_ms"] > 0
    assert all(window["time_ms"] <= window["wall_ms"] for window in timing["windows"])


@pytest.mark.parametrize(
    ("name", "status"),
    [("empty_body", "WRONG_ANSWER"), ("overwrites_inputs", "WRONG_ANSWER"), ("oob_write", "RUNTIME_ERROR")],
)
def test_a_wrong_kernel_is_caught_in_memory_of_the_harness(
    sandbox: Sandbox, folder: Path, name: str, status: str
) -> None:
    """Poison, inputs and guard zones are checked in the harness's memory as in the judge's."""
    verdict = _verdict(sandbox, read(ATTACKS / f"{name}.hip").source, Endpoint.CHECKER, folder)
    assert verdict["status"] == status, verdict


def test_without_shared_memory_the_result_says_what_is_missing(sandbox: Sandbox, folder: Path) -> None:
    """If the guest cannot open the harness's memory it copies, and the time names the missing guarantee."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    configured = replace(settings.load(), bug_finder=False, bench_budget_s=0.05)

    class NoIpcToolchain(SeparateMemoryToolchain):
        def harness_template(self, settings: Settings) -> Template:
            template = super().harness_template(settings)
            return replace(template, env={**template.env, "HIPCPU_IPC_DIR": str(elsewhere)})

    toolchain = NoIpcToolchain(configured.cache_dir)
    toolchain.folder = folder
    request = JudgeRequest(
        source=read(ATTACKS / "honest.hip").source,
        problem=problems.get("relu"),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.BENCHMARK,
    )
    *_, event = Judge(toolchain, sandbox, configured).judge(request)
    verdict = event.fields()
    assert verdict["status"] == "BENCHMARKED", verdict
    assert verdict["test_results"][0]["missing_guarantees"] == [GUEST_OWNS_MEMORY]


def test_the_harness_describes_its_device(sandbox: Sandbox, folder: Path) -> None:
    """The HIP runtime is queried in our own program, before any submitted code is loaded."""
    configured = settings.load()
    toolchain = SeparateMemoryToolchain(configured.cache_dir)
    toolchain.folder = folder
    with sandbox.take(toolchain.harness_template(configured)) as box:
        box.go()
        device = DeviceMemory(box).describe_device()
    assert (device.arch, device.compute_units, device.memory_bytes) == ("gfx942", 304, 192 << 30)
    assert device.hip_runtime_version.startswith("6.4.")
