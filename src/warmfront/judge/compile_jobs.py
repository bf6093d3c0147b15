"""Compilers set to work on a submission, a box each: the build that decides, and the bug finder's beside it.

The command line begins them before it loads the judge, which takes them over. Nothing here waits for a
compiler or reads what it said.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.hip.toolchain import SOURCE_FILE

if TYPE_CHECKING:
    from concurrent.futures import Future

    from warmfront.hip.toolchain import Toolchain, Translated
    from warmfront.sandbox.base import Box, Sandbox, Template
    from warmfront.settings import Settings


@dataclass(frozen=True)
class CompileJob:
    """A compiler at work."""

    box: Box
    began_s: float  #: when it was handed the source, by `time.perf_counter`


class CompileJobs:
    """Begun when it is made; whoever has it must `close` it."""

    def __init__(
        self,
        translated: Translated,
        toolchain: Toolchain,
        sandbox: Sandbox,
        settings: Settings,
        *,
        thorough: bool,
    ) -> None:
        self.translated = translated
        self._sandbox = sandbox
        # A box takes its time to start: neither waits for the other's.
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="warmfront-build")
        self.judged = self._begin(toolchain.compile_template(settings))
        self.checked: Future[CompileJob] | None = (
            None  #: None where the bug finder is not wanted, or cannot work
        )
        checked = toolchain.checked if settings.bug_finder or thorough else None
        if checked is not None and checked.failure is None:
            self.checked = self._begin(checked.compile_template(settings))

    def close(self) -> None:
        """End what is still at work."""
        for begun in (self.judged, self.checked):
            if begun is not None and not begun.cancel() and begun.exception() is None:
                begun.result().box.destroy()
        self._threads.shutdown()

    def _begin(self, template: Template) -> Future[CompileJob]:
        return self._threads.submit(start_compile, self._sandbox, template, self.translated)


def start_compile(sandbox: Sandbox, template: Template, translated: Translated) -> CompileJob:
    """Hand the source to a waiting compiler."""
    box = sandbox.take(template)
    try:
        (box.folder / SOURCE_FILE).write_text(translated.text)
        began_s = time.perf_counter()
        box.go()
        box.send(b"go\n")
    except BaseException:
        box.destroy()
        raise
    return CompileJob(box, began_s)
