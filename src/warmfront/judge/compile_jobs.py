"""Start the compilers of a submission, each in its own box: the primary build and the bug finder's build.

The command line starts them before it loads the judge, to which it then passes them. Nothing here waits for a
compiler or reads its output.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from warmfront.hip.toolchain import SOURCE_FILE
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.hip.toolchain import Toolchain, TranslatedSource
    from warmfront.sandbox.base import Box, Sandbox, Template
    from warmfront.settings import Settings


@dataclass(frozen=True)
class CompileJob:
    """A compiler that is running in a box."""

    box: Box
    started_s: float  #: `time.perf_counter()` when the source was sent to the compiler


class CompileJobs:
    """The compile jobs of one submission. They start on construction; the owner must call `close`.

    The constructor calls `translate` while the boxes of the compilers start, which takes about as long, and
    propagates its exceptions.
    """

    def __init__(
        self,
        translate: Callable[[], TranslatedSource],
        toolchain: Toolchain,
        sandbox: Sandbox,
        settings: Settings,
        *,
        thorough: bool,
    ) -> None:
        self._sandbox = sandbox
        self._translation: Future[TranslatedSource] = Future()
        # Two threads, because starting a box takes time and neither job should wait for the other.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="warmfront-compile")
        self.primary = self._start(toolchain.compile_template(settings))
        #: None if the bug finder is disabled or unavailable.
        self.checked: Future[CompileJob] | None = None
        checked = toolchain.checked_build if settings.bug_finder or thorough else None
        if checked is not None and checked.failure is None:
            self.checked = self._start(checked.compile_template(settings))
        try:
            self._translation.set_result(translate())
        except BaseException as error:
            self._translation.set_exception(error)
            self.close()
            raise

    @property
    def translated(self) -> TranslatedSource:
        """The text that was passed to the compilers."""
        return self._translation.result()

    def close(self) -> None:
        """Stop every compiler that is still running."""
        for job in (self.primary, self.checked):
            if job is not None and not job.cancel() and job.exception() is None:
                job.result().box.destroy()
        self._threads.shutdown()

    def _start(self, template: Template) -> Future[CompileJob]:
        return self._threads.submit(start_compile, self._sandbox, template, self._translation)


def start_compile(sandbox: Sandbox, template: Template, translation: Future[TranslatedSource]) -> CompileJob:
    """Take a box with a waiting compiler and send it the source."""
    box = sandbox.take(template)
    try:
        box.start()
        (box.folder / SOURCE_FILE).write_text(translation.result().text)
        started_s = time.perf_counter()
        box.go()
        box.send(b"go\n")
    except BaseException:
        box.destroy()
        raise
    return CompileJob(box, started_s)
