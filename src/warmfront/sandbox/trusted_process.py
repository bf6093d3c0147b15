"""No sandbox at all, behind the same interface: for code that the person at the keyboard wrote.

It is chosen by name only, never fallen back to. Of the limits it keeps the wall clock, the output, the
size of files and their number.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.sandbox import TRUSTED
from warmfront.sandbox.base import BOX, SCRATCH, BoxExit, Template
from warmfront.sandbox.box_folders import BoxFolders
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.process_box import ProcessBox, Spawner, exit_of_status, launcher

if TYPE_CHECKING:
    from pathlib import Path

NAME = TRUSTED


class TrustedSandbox(PooledSandbox):
    """Runs programs as they are."""

    name = NAME
    detail = NAME

    def __init__(self, *, base: Path | None = None) -> None:
        super().__init__(BoxFolders("trusted", base))
        self._spawner = Spawner()
        for owner in self.folders.dead_owners():
            self.folders.bury(owner)

    def close(self) -> None:
        """Destroy every box that was made and not taken."""
        super().close()
        self._spawner.close()

    def _make(self, template: Template) -> TrustedBox:
        return TrustedBox(template, self.folders.make(), self._spawner)


class TrustedBox(ProcessBox):
    """One process, in a session of its own."""

    def _start(self) -> None:
        argv = [self._on_host(word) for word in self.template.argv]
        scratch = self.folder / "scratch"
        scratch.mkdir()
        env = {
            name: f"{scratch}{value[len(SCRATCH) :]}" if value.startswith(SCRATCH) else self._on_host(value)
            for name, value in self.template.env.items()
        }
        self._spawn(launcher(argv, self.template.limits, ()), env=env)

    def _on_host(self, text: str) -> str:
        """With no file system of its own, a program must be told where things really are."""
        places = {mount.inside: mount.host for mount in self.template.mounts} | {BOX: self.folder}
        inside = "|".join(re.escape(path) for path in sorted(places, key=len, reverse=True))
        return re.sub(rf"(?<![\w./])({inside})(?![\w.-])", lambda found: str(places[found[1]]), text)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _kill_rest(self) -> None:
        self._kill()

    def _account(self, returncode: int, output: bytes) -> BoxExit:
        return replace(exit_of_status(returncode), output=output, enforced_by=NAME)
