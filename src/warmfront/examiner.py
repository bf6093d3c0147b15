"""The service's X-rays: off the event loop, a few at once, in a sandbox of their own.

What an X-ray says is `warmfront.admission`'s; when one is made and what follows from it, the orchestrator's.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from warmfront import problems
from warmfront.admission import examine, not_made
from warmfront.errors import IsolationRequired, WarmfrontError
from warmfront.hip.xray import xray
from warmfront.problems.spec import Dtype
from warmfront.sandbox import open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.events import Xray
    from warmfront.hip.xray import Report
    from warmfront.problems.spec import Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings
    from warmfront.submission import Submission

#: X-rays at once. Each keeps a core busy.
_THREADS = 2


class Examiner:
    """Looks into sources, two at a time."""

    def __init__(self, settings: Settings, sandbox: Sandbox) -> None:
        self._settings = settings
        self._sandbox = sandbox
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="warmfront-xray")

    @classmethod
    def open(cls, settings: Settings) -> Examiner:
        """One with the sandbox that the settings name. Others' code is never compiled without."""
        if not settings.isolation:
            raise IsolationRequired(
                "AMD_CONTAINER_ISOLATION is false, and a service takes code from others.",
                hint="Unset it. `warmfront run --trust` runs your own code without a sandbox.",
            )
        sandbox = open_sandbox(settings.sandbox, base=settings.box_dir, image=settings.docker_image)
        return cls(settings, sandbox)

    async def examine(self, record: Submission, source: str) -> Xray:
        """The X-ray that a submission gets at its admission."""
        if not self._settings.xray and record.endpoint != Endpoint.XRAY:
            return not_made("WARMFRONT_XRAY is false.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._examine, record, source)

    async def xray(self, source: str, *, arch: str, problem: Problem | None, dtype: Dtype | None) -> Report:
        """The whole report on a source that nobody submitted."""

        def look() -> Report:
            return xray(
                source,
                arch=arch,
                problem=problem,
                dtype=dtype,
                sandbox=self._sandbox,
                settings=self._settings,
            )

        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    def close(self) -> None:
        """Finish what is being looked at, and leave no box behind."""
        self._threads.shutdown(cancel_futures=True)
        self._sandbox.close()

    def _examine(self, record: Submission, source: str) -> Xray:
        try:
            problem, dtype = problems.get(record.problem), Dtype(record.dtype)
        except WarmfrontError:  # its author brought the problem along, and that is run on a VM alone
            problem, dtype = None, None
        return examine(
            source,
            file_name=record.file_name,
            problem=problem,
            dtype=dtype,
            sandbox=self._sandbox,
            settings=self._settings,
        )
