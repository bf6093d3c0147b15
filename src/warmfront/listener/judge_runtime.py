"""The judge of this VM, with one toolchain and one sandbox for all attempts, both kept warm.

The control plane makes the X-ray before it sends an attempt, so nothing of it is imported.
"""

from __future__ import annotations

import importlib
import os
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Self

from warmfront import problems
from warmfront.errors import IsolationRequired, WarmfrontError
from warmfront.events import Event, Failed
from warmfront.hip.toolchain import open_toolchain
from warmfront.judge import Judge
from warmfront.judge.bug_finder import QUICK
from warmfront.judge.cancellation import CancellableSandbox, cancelled_event
from warmfront.listener.request_parsing import to_judge_request
from warmfront.listener.warm_sandbox import WarmSandbox
from warmfront.sandbox import open_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.problems.spec import Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

#: Modules that the judge imports on first use, because they need NumPy.
LAZY_MODULES = ("warmfront.judge.output_check", "warmfront.judge.buffer_layout", "warmfront.judge.case_timer")


class JudgeRuntime:
    """A judge, its toolchain and its sandbox, opened once and used for every attempt."""

    def __init__(self, toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> None:
        self.toolchain = toolchain
        self._sandbox = WarmSandbox(sandbox)
        self._judge = Judge(toolchain, self._sandbox, settings)
        self._settings = settings

    @classmethod
    def open(cls, toolchain_name: str | None, settings: Settings) -> Self:
        """Build and load everything that does not depend on an attempt.

        Raises:
            IsolationRequired: AMD_CONTAINER_ISOLATION is false.
            WarmfrontError: the toolchain or the sandbox does not work.
        """
        if not settings.isolation:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false, but a listener runs untrusted code.", hint="Unset it."
            )
        toolchain = open_toolchain(toolchain_name, settings)
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
            runtime = cls(toolchain, sandbox, settings)
            runtime.warm_up()
        except BaseException:
            sandbox.close()
            raise
        return runtime

    def warm_up(self) -> None:
        """Prepare boxes and import lazy modules, so that the first attempt is as fast as later ones."""
        self._sandbox.prepare(self.toolchain.compile_template(self._settings))
        self._sandbox.prepare(self.toolchain.run_template(self._settings))
        checked = self.toolchain.checked_build
        if checked is not None and self._settings.bug_finder and checked.failure is None:
            self._sandbox.prepare(checked.compile_template(self._settings))
            self._sandbox.prepare(checked.run_template(self._settings, max_steps=QUICK.max_steps))
        for module in LAZY_MODULES:
            importlib.import_module(module)
        problems.all_problems()

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Judge the attempt and yield its events; the last one is the verdict."""
        try:
            with self._open_problem(attempt, cancellation) as problem:
                yield from self._judge.judge(
                    to_judge_request(attempt, problem), run_slot=run_slot, cancellation=cancellation
                )
        except WarmfrontError as error:
            yield cancelled_event() if cancellation.is_cancelled else Failed.of(error)
        finally:
            self._sandbox.refill()

    def _open_problem(
        self, attempt: ExecuteRequest, cancellation: CancellationToken
    ) -> AbstractContextManager[Problem]:
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
        self._sandbox.close()
