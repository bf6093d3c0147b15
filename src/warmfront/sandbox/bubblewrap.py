"""Boxes by bubblewrap: namespaces, a read-only root, no capabilities, a seccomp filter, a cgroup.

The program is nobody even when we are root. Where we may have no cgroup of our own, rlimits stand in
for its limits on memory and processes, and the result says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.errors import NoSandbox
from warmfront.sandbox import bwrap_command, seccomp
from warmfront.sandbox.base import BoxExit, ExitReason, Template
from warmfront.sandbox.box_folders import BoxFolders, is_open_to_all
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.cgroup import CgroupHierarchy, ControlGroup, find_hierarchy
from warmfront.sandbox.fifo_channel import wait_readable
from warmfront.sandbox.process_box import GRACE_S, ProcessBox, Spawner, exit_of_status, launcher

if TYPE_CHECKING:
    from pathlib import Path

INSTALL_HINT = "apt-get install bubblewrap"

#: What programs and compilers say when the limit on address space stops them. A cgroup needs no guessing.
OUT_OF_MEMORY = re.compile(
    rb"bad_alloc|MemoryError|out of memory|[Cc]annot allocate memory|virtual memory exhausted"
)


class Bubblewrap(PooledSandbox):
    """Makes boxes with bubblewrap."""

    name = "bubblewrap"

    def __init__(self, *, base: Path | None = None, use_cgroup: bool = True) -> None:
        found = bwrap_command.probe()
        if not found.wrappers:
            raise NoSandbox(f"bubblewrap does not work here: {found.detail}", hint=INSTALL_HINT)
        super().__init__(BoxFolders(self.name, base))
        self._wrappers = found.wrappers
        self._spawner = Spawner()
        self._hierarchy = find_hierarchy() if use_cgroup else None
        limits = f"cgroup {self._hierarchy.version}" if self._hierarchy else "rlimits"
        self.detail = f"{self.name}, {limits}"
        self._remove_leftovers()

    def close(self) -> None:
        """Destroy every box that was made and not taken. A box in use dies with its sandbox."""
        super().close()
        self._spawner.close()

    def _make(self, template: Template) -> BubblewrapBox:
        wrapper = self._wrapper(template)
        return BubblewrapBox(template, self.folders.make(), self._spawner, wrapper, self._hierarchy)

    def _wrapper(self, template: Template) -> bwrap_command.BwrapMode:
        """The best that works; bubblewrap without privilege must reach what it mounts."""
        paths = [self.folders.base, *(mount.host for mount in template.mounts)]
        if len(self._wrappers) > 1 and not all(map(is_open_to_all, paths)):
            return self._wrappers[1]
        return self._wrappers[0]

    def _remove_leftovers(self) -> None:
        for owner in self.folders.dead_owners():
            if self._hierarchy:
                for name in self._hierarchy.names(f"{owner}-"):
                    self._hierarchy.existing(name).remove()
            self.folders.bury(owner)


class BubblewrapBox(ProcessBox):
    """One run of bwrap_command."""

    def __init__(
        self,
        template: Template,
        folder: Path,
        spawner: Spawner,
        wrapper: bwrap_command.BwrapMode,
        hierarchy: CgroupHierarchy | None,
    ) -> None:
        super().__init__(template, folder, spawner)
        self._wrapper = wrapper
        self._hierarchy = hierarchy
        self._group: ControlGroup | None = None
        self._init_fd = -1  # the box's process 1: once it is gone, so is every other
        self._status_fd = -1
        self._status = b""

    def _start(self) -> None:
        if self._hierarchy:
            name = f"{self.folder.parent.name}-{self.folder.name}"
            self._group = self._hierarchy.make(name, self.template.limits)
        self._status_fd, status_fd = os.pipe()
        os.set_blocking(self._status_fd, False)
        seccomp_fd = seccomp.as_descriptor(may_fork=self.template.may_fork)
        try:
            self._spawn(self._command(status_fd, seccomp_fd), pass_fds=(status_fd, seccomp_fd))
        finally:
            os.close(status_fd)
            os.close(seccomp_fd)
        self._meet_init()

    def _command(self, status_fd: int, seccomp_fd: int) -> list[str]:
        template = self.template
        argv = list(template.argv) if self._group else bwrap_command.rlimited(template.argv, template.limits)
        fds = {"status_fd": status_fd, "seccomp_fd": seccomp_fd}
        command = bwrap_command.wrapped(argv, template, self.folder, self._wrapper, **fds)
        return launcher(command, template.limits, self._group.entrances if self._group else ())

    def _meet_init(self) -> None:
        """Wait for bubblewrap to say which process is the box's first."""
        deadline = time.monotonic() + GRACE_S
        while b"\n" not in self._status and wait_readable(self._status_fd, deadline=deadline):
            if not self._read_status():
                break  # bubblewrap is gone: `_account` will say why
        if (pid := self._reported("child-pid")) is not None:
            with contextlib.suppress(ProcessLookupError):  # so quick that it is gone already
                self._init_fd = os.pidfd_open(pid)

    def _read_status(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._status_fd, 4096)
            self._status += chunk
            return bool(chunk)
        return False

    def _reported(self, key: str) -> int | None:
        """What bubblewrap says of itself: one JSON object a line."""
        reports = (json.loads(line) for line in self._status.splitlines())
        return next((int(report[key]) for report in reports if key in report), None)

    def _kill(self) -> None:
        if self._init_fd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        super()._kill()

    def _kill_rest(self) -> None:
        self._kill()
        if self._init_fd >= 0:
            wait_readable(self._init_fd, deadline=time.monotonic() + GRACE_S)

    def _account(self, returncode: int, output: bytes) -> BoxExit:
        while self._read_status():
            pass
        code = self._reported("exit-code")
        found = replace(exit_of_status(returncode if code is None else code), output=output)
        found = self._with_usage(found) if self._group else self._with_guess(found)
        if code is None and found.reason is not ExitReason.MEMORY:
            # bubblewrap reports an exit code for every program that it came to start.
            self._failure = (
                f"bubblewrap could not start the program: {output.decode(errors='replace').strip()}"
            )
        return found

    def _with_usage(self, found: BoxExit) -> BoxExit:
        assert self._group is not None  # noqa: S101  for mypy: the caller looked
        return replace(
            found,
            reason=ExitReason.MEMORY if self._group.oom_kills() else found.reason,
            peak_memory_bytes=self._group.peak_memory_bytes(),
            refused_pids=self._group.refused_pids(),
            enforced_by=f"bubblewrap, cgroup {self._group.version}",
        )

    def _with_guess(self, found: BoxExit) -> BoxExit:
        """Under rlimits an allocation fails in the program, and only its last words tell."""
        has_failed = found.code != 0
        is_memory = has_failed and OUT_OF_MEMORY.search(found.output)
        reason = ExitReason.MEMORY if is_memory else found.reason
        return replace(found, reason=reason, enforced_by="bubblewrap, rlimits")

    def _release(self) -> None:
        super()._release()
        for fd in (self._init_fd, self._status_fd):
            if fd >= 0:
                os.close(fd)
        if self._group:
            self._group.remove()
