"""The judge of this VM. All attempts share one toolchain and one sandbox, which are kept warm.

The control plane makes the X-ray before it sends an attempt, so the X-ray is not imported here.
"""

from __future__ import annotations

import importlib
import logging
import os
import shutil
import threading
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from warmfront import gpus, problems
from warmfront.errors import (
    GpuFailed,
    IsolationRequired,
    NoSandbox,
    ToolchainFailed,
    VMUnhealthy,
    WarmfrontError,
)
from warmfront.events import Event, Failed
from warmfront.hip.device_facts import installed_devices
from warmfront.hip.gpu_host import MIN_SHARED_MEMORY_BYTES, GpuHost
from warmfront.hip.toolchain import open_toolchain
from warmfront.judge import Judge
from warmfront.judge.bug_finder import QUICK
from warmfront.judge.cancellation import CancellableSandbox, cancelled_event
from warmfront.listener.gpu_checks import check_gpu
from warmfront.listener.request_parsing import scratch_problem, to_judge_request
from warmfront.listener.vm_status import VMStatus
from warmfront.listener.warm_sandbox import WarmSandbox
from warmfront.problems.spec import Scale
from warmfront.sandbox import open_sandbox
from warmfront.sandbox.box import default_base
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.problems.spec import Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: Free space that boxes need for the data of the largest cases, at each scale.
MIN_BOX_BYTES = {Scale.CPU: 64 << 20, Scale.GPU: MIN_SHARED_MEMORY_BYTES}
#: After these verdicts the VM is checked, because on a broken machine a correct kernel fails too.
CHECKED_AFTER = frozenset(
    {
        Verdict.RUNTIME_ERROR,
        Verdict.TIME_LIMIT_EXCEEDED,
        Verdict.MEMORY_LIMIT_EXCEEDED,
        Verdict.ERROR,
    }
)
#: Modules that the judge imports on first use, because they need NumPy.
LAZY_MODULES = ("warmfront.judge.output_check", "warmfront.judge.buffer_layout", "warmfront.judge.case_timer")


class JudgeRuntime:
    """A judge, its toolchain and its sandbox, opened once and used for every attempt."""

    def __init__(self, toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> None:
        self.toolchain = toolchain
        self._sandbox = WarmSandbox(sandbox)
        self._judge = Judge(toolchain, self._sandbox, settings)
        self._settings = settings
        self._checks_gpu = settings.check_gpu or not toolchain.simulated
        self._loading = threading.Thread(target=_load_modules, name="load modules", daemon=True)
        self.status = VMStatus(
            toolchain=toolchain.name,
            gpu=toolchain.gpu.name,
            simulated=toolchain.simulated,
            devices=(toolchain.device.to_json(),) if toolchain.device else (),
        )

    @classmethod
    def open(
        cls, toolchain_name: str | None, settings: Settings, *, device: DeviceFacts | None = None
    ) -> Self:
        """Build and load everything that does not depend on an attempt, and check the GPU.

        Args:
            toolchain_name: the name of the toolchain, as in `open_toolchain`.
            settings: the limits of sandboxes.
            device: the only device that attempts can use, on a machine with several.

        Raises:
            IsolationRequired: AMD_CONTAINER_ISOLATION is false.
            WarmfrontError: the toolchain or the sandbox does not work.
        """
        if not settings.isolation:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false, but a listener runs untrusted code.", hint="Unset it."
            )
        toolchain = open_toolchain(toolchain_name, settings, device=device)
        if toolchain.simulated:
            # BLAS threads would compete with the threads that run the kernel.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        toolchain.build()
        sandbox = open_sandbox(
            settings.sandbox,
            base=settings.box_dir,
            image=settings.docker_image,
            image_dirs=settings.docker_image_dirs,
        )
        try:
            _require_space(settings, toolchain)
            runtime = cls(toolchain, sandbox, settings)
            runtime.check_health()
            if not runtime.status.failure:
                runtime.warm_up()
        except BaseException:
            sandbox.close()
            raise
        return runtime

    def warm_up(self) -> None:
        """Prepare boxes and load lazy modules, so that the first attempt is as fast as later ones.

        Modules that need NumPy are loaded in a thread: the first attempt needs them only after it is
        compiled, and the VM should be ready earlier.
        """
        self._sandbox.prepare(self.toolchain.compile_template(self._settings))
        self._sandbox.prepare(self.toolchain.run_template(self._settings))
        checked = self.toolchain.checked_build
        if checked is not None and self._settings.bug_finder and checked.failure is None:
            self._sandbox.prepare(checked.compile_template(self._settings))
            self._sandbox.prepare(checked.run_template(self._settings, max_steps=QUICK.max_steps))
        problems.all_problems()
        self._loading.start()

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Judge the attempt and yield its events; the last one is the verdict.

        If the VM turns out to be unhealthy, the verdict reports that and says nothing about the kernel.
        """
        with self._sandbox.turn() as turn:
            for event in self._judge_attempt(attempt, run_slot, cancellation, turn.hold):
                yield self._attribute(event) if isinstance(event, Failed) else event

    def check_health(self, *, after_failure: bool = False) -> None:
        """Check the GPU, if there is one, and update the status."""
        if not self._checks_gpu:
            return
        device = self.toolchain.device
        health = check_gpu(
            self.toolchain,
            self._sandbox,
            self._settings,
            expected=gpus.get(self._settings.judge_gpu),
            host=GpuHost(
                min_shared_memory_bytes=MIN_BOX_BYTES[self.toolchain.scale],
                render_minor=device.render_minor if device else None,
            ),
            after_failure=after_failure,
        )
        self.status = replace(
            self.status,
            failure="" if health.ok else health.summary(),
            devices=tuple(device.to_json() for device in installed_devices()) or self.status.devices,
            gpu_health=health.to_json(),
        )

    def _judge_attempt(
        self,
        attempt: ExecuteRequest,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
        before_timing: Callable[[], None],
    ) -> Iterator[Event]:
        if self.status.failure:
            yield Failed.of(VMUnhealthy(self.status.failure))
            return
        try:
            with self._open_problem(attempt, cancellation) as problem:
                yield from self._judge.judge(
                    to_judge_request(attempt, problem, self.toolchain.scale),
                    run_slot=run_slot,
                    cancellation=cancellation,
                    before_timing=before_timing,
                )
        except WarmfrontError as error:
            yield cancelled_event() if cancellation.is_cancelled else Failed.of(error)

    def _attribute(self, verdict: Failed) -> Failed:
        """Check the VM after a verdict that a broken VM can cause; return its own verdict if it is broken."""
        if verdict.verdict not in CHECKED_AFTER or self.status.failure:
            return verdict
        self.check_health(after_failure=True)
        if not self.status.failure and self._is_of_gpu(verdict):
            self.status = replace(self.status, failure=verdict.message)
        if not self.status.failure and verdict.verdict is Verdict.ERROR:
            self._check_sandbox()
        if not self.status.failure:
            return verdict
        log.error("this VM can no longer judge attempts: %s", self.status.failure)
        return Failed.of(VMUnhealthy(self.status.failure))

    def _is_of_gpu(self, verdict: Failed) -> bool:
        """Return whether our own program failed on the GPU, which is broken or no longer responds."""
        failed = verdict.code in {GpuFailed.code, ToolchainFailed.code}
        return failed and not self.toolchain.shared_memory

    def _check_sandbox(self) -> None:
        """Start a box with the template of an attempt, and update the status if that fails."""
        try:
            with self._sandbox.take(self.toolchain.compile_template(self._settings)) as box:
                box.go()
        except WarmfrontError as error:
            self.status = replace(self.status, failure=error.message)

    def _open_problem(
        self, attempt: ExecuteRequest, cancellation: CancellationToken
    ) -> AbstractContextManager[Problem]:
        if (scratch := scratch_problem(attempt)) is not None:
            return nullcontext(scratch)
        if attempt.problem_def is None:
            return nullcontext(problems.get(attempt.problem))
        from warmfront.problems.sandboxed.proxy import open_sandboxed_problem  # noqa: PLC0415 - few attempts need it

        return open_sandboxed_problem(
            attempt.problem_def,
            attempt.problem,
            self.toolchain.scale,
            sandbox=CancellableSandbox(self._sandbox, cancellation),
            settings=self._settings,
        )

    def close(self) -> None:
        """Destroy every prepared box."""
        if self._loading.is_alive():  # the interpreter must not exit during an import
            self._loading.join()
        self._sandbox.close()


def _load_modules() -> None:
    for module in LAZY_MODULES:
        importlib.import_module(module)


def _require_space(settings: Settings, toolchain: Toolchain) -> None:
    """Raise `NoSandbox` if the data of cases would not fit into the directory for boxes."""
    base = settings.box_dir or default_base()
    free_bytes, needed_bytes = shutil.disk_usage(base).free, MIN_BOX_BYTES[toolchain.scale]
    if free_bytes < needed_bytes:
        raise NoSandbox(
            f"The directory for boxes, {base}, has {free_bytes >> 20:,} MiB free; "
            f"the data of cases needs {needed_bytes >> 20:,} MiB.",
            hint="Mount a larger tmpfs there, or set WARMFRONT_BOX_DIR to another directory.",
        )
