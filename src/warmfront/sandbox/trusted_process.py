"""A sandbox without isolation, for code that the user wrote and trusts.

It is used only on explicit request, never as a fallback. It enforces only the limits on wall clock, output,
file size and open files.
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
from warmfront.sandbox.box import BoxFolders
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.process_box import ProcessBox, Spawner, exit_of_status, launcher

if TYPE_CHECKING:
    from pathlib import Path

NAME = TRUSTED


class TrustedSandbox(PooledSandbox):
    """A sandbox that runs programs without isolation."""

    name = NAME
    detail = NAME

    def __init__(self, *, base: Path | None = None) -> None:
        super().__init__(BoxFolders("trusted", base))
        self._spawner = Spawner()
        for owner in self.folders.dead_owners():
            self.folders.remove_owner(owner)

    def close(self) -> None:
        """Destroy every box that was prepared and not taken."""
        super().close()
        self._spawner.close()

    def _make(self, template: Template) -> TrustedBox:
        return TrustedBox(template, self.folders.make(), self._spawner)


class TrustedBox(ProcessBox):
    """One process in its own session."""

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
        """Replace paths inside the box with host paths, because the program sees the host's file system."""
        host_paths = {mount.inside: mount.host for mount in self.template.mounts} | {BOX: self.folder}
        inside = "|".join(re.escape(path) for path in sorted(host_paths, key=len, reverse=True))
        return re.sub(rf"(?<![\w./])({inside})(?![\w.-])", lambda match: str(host_paths[match[1]]), text)

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _kill_rest(self) -> None:
        self._kill()

    def _account(self, returncode: int, output: bytes) -> BoxExit:
        return replace(exit_of_status(returncode), output=output, enforced_by=NAME)
