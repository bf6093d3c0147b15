"""Boxes with bubblewrap: namespaces, a read-only root, no capabilities, a seccomp filter, a cgroup.

The program runs as user `nobody` even if we are root. If we cannot create cgroups, rlimits limit memory and
processes instead, and `BoxExit.enforced_by` says so.
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
from warmfront.sandbox.box import BoxFolders, Freezer, is_world_readable
from warmfront.sandbox.box_pool import PooledSandbox
from warmfront.sandbox.cgroup import CgroupHierarchy, ControlGroup, find_hierarchy
from warmfront.sandbox.fifo_channel import wait_readable
from warmfront.sandbox.process_box import GRACE_S, ProcessBox, Spawner, exit_of_status, launcher

if TYPE_CHECKING:
    from pathlib import Path

INSTALL_HINT = "apt-get install bubblewrap"

#: Messages of programs and compilers that ran out of address space. Used only without a cgroup.
OUT_OF_MEMORY = re.compile(
    rb"bad_alloc|MemoryError|out of memory|[Cc]annot allocate memory|virtual memory exhausted"
)


class Bubblewrap(PooledSandbox):
    """A sandbox that makes boxes with bubblewrap."""

    name = "bubblewrap"

    def __init__(self, *, base: Path | None = None, use_cgroup: bool = True) -> None:
        probe = bwrap_command.probe()
        if probe.mode is None:
            raise NoSandbox(f"bubblewrap does not work on this machine: {probe.detail}", hint=INSTALL_HINT)
        super().__init__(BoxFolders(self.name, base))
        self._preferred = probe.mode
        self._spawner = Spawner()
        self._hierarchy = find_hierarchy() if use_cgroup else None
        limits = f"cgroup {self._hierarchy.version}" if self._hierarchy else "rlimits"
        self.detail = f"{self.name}, {limits}"
        self._remove_leftovers()

    def close(self) -> None:
        """Destroy every box that was prepared and not taken. Boxes in use are killed too."""
        super().close()
        self._spawner.close()
        if self._hierarchy:
            self._hierarchy.close()

    def _make(self, template: Template) -> BubblewrapBox:
        mode = self._mode(template)
        return BubblewrapBox(template, self.folders.make(), self._spawner, mode, self._hierarchy)

    def _mode(self, template: Template) -> bwrap_command.BwrapMode:
        """Return the best mode that works.

        Unprivileged bubblewrap must have access to everything that it mounts.
        """
        paths = [self.folders.base, *(mount.host for mount in template.mounts)]
        if all(map(is_world_readable, paths)):
            return self._preferred
        return bwrap_command.privileged_mode() or self._preferred

    def _remove_leftovers(self) -> None:
        for owner in self.folders.dead_owners():
            if self._hierarchy:
                for name in self._hierarchy.names(f"{owner}-"):
                    self._hierarchy.existing(name).remove()
            self.folders.remove_owner(owner)


class BubblewrapBox(ProcessBox):
    """One bwrap process."""

    def __init__(
        self,
        template: Template,
        folder: Path,
        spawner: Spawner,
        mode: bwrap_command.BwrapMode,
        hierarchy: CgroupHierarchy | None,
    ) -> None:
        super().__init__(template, folder, spawner)
        self._mode = mode
        self._hierarchy = hierarchy
        self._group: ControlGroup | None = None
        self._init_fd = -1  # the box's process 1: when it ends, the kernel kills all others
        self._status_fd = -1
        self._status = b""

    def _start(self) -> None:
        if self._hierarchy:
            name = f"{self.folder.parent.name}-{self.folder.name}"
            self._group = self._hierarchy.make(name, self.template.limits)
        self._status_fd, status_fd = os.pipe()
        os.set_blocking(self._status_fd, False)
        seccomp_fd = seccomp.as_descriptor(
            may_fork=self.template.may_fork, has_devices=bool(self.template.devices)
        )
        try:
            self._spawn(self._command(status_fd, seccomp_fd), pass_fds=(status_fd, seccomp_fd))
        finally:
            os.close(status_fd)
            os.close(seccomp_fd)
        self._open_init()

    def _command(self, status_fd: int, seccomp_fd: int) -> list[str]:
        template = self.template
        argv = list(template.argv)
        if not self._group:
            argv = bwrap_command.prlimit_argv(argv, template.limits, has_devices=bool(template.devices))
        fds = {"status_fd": status_fd, "seccomp_fd": seccomp_fd}
        command = bwrap_command.bwrap_argv(argv, template, self.folder, self._mode, **fds)
        return launcher(command, template.limits, self._group.join_files if self._group else ())

    def _open_init(self) -> None:
        """Wait until bubblewrap reports the pid of the box's first process."""
        deadline = time.monotonic() + GRACE_S
        while b"\n" not in self._status and wait_readable(self._status_fd, deadline=deadline):
            if not self._read_status():
                break  # bubblewrap has ended: `_account` reports why
        if (pid := self._reported("child-pid")) is not None:
            with contextlib.suppress(ProcessLookupError):  # it has already ended
                self._init_fd = os.pidfd_open(pid)

    def _read_status(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._status_fd, 4096)
            self._status += chunk
            return bool(chunk)
        return False

    def _reported(self, key: str) -> int | None:
        """Return a value from bubblewrap's status: one JSON object per line."""
        reports = (json.loads(line) for line in self._status.splitlines())
        return next((int(report[key]) for report in reports if key in report), None)

    def _set_cpu_weight(self, weight: int) -> None:
        if self._group:
            self._group.set_cpu_weight(weight)

    def _kill(self) -> None:
        if self._init_fd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        super()._kill()
        if self._group:
            self._group.thaw()  # a frozen process does not end

    def _freezer(self) -> Freezer:
        return self._group if self._group and self._group.can_freeze else super()._freezer()

    def _read_cpu_s(self) -> float:
        cpu_s = self._group.cpu_s() if self._group else None
        return super()._read_cpu_s() if cpu_s is None else cpu_s

    def _is_out_of_memory(self) -> bool:
        return self._group is not None and self._group.is_out_of_memory()

    def _tasks(self) -> list[int]:
        return self._group.tasks() if self._group else super()._tasks()

    def _kill_rest(self) -> None:
        self._kill()
        if self._init_fd >= 0:
            wait_readable(self._init_fd, deadline=time.monotonic() + GRACE_S)

    def _account(self, returncode: int, output: bytes) -> BoxExit:
        while self._read_status():
            pass
        code = self._reported("exit-code")
        end = replace(exit_of_status(returncode if code is None else code), output=output)
        end = self._with_usage(end) if self._group else self._with_guessed_reason(end)
        if code is None and self._failure is None and end.reason is not ExitReason.MEMORY:
            # bubblewrap reports an exit code for every program that it started.
            self._failure = (
                f"bubblewrap could not start the program: {output.decode(errors='replace').strip()}"
            )
        return end

    def _with_usage(self, end: BoxExit) -> BoxExit:
        assert self._group is not None  # noqa: S101 - for mypy: the caller checked
        is_out_of_memory = self._group.is_out_of_memory()
        if self._group.oom_kills() and not is_out_of_memory:
            self._failure = "The kernel ended the program because all boxes together ran out of memory."
        return replace(
            end,
            reason=ExitReason.MEMORY if is_out_of_memory else end.reason,
            peak_memory_bytes=self._group.peak_memory_bytes(),
            refused_pids=self._group.refused_pids(),
            enforced_by=f"bubblewrap, cgroup {self._group.version}",
        )

    def _with_guessed_reason(self, end: BoxExit) -> BoxExit:
        """Guess from the output whether memory ran out.

        With rlimits, an allocation fails inside the program.
        """
        has_failed = end.code != 0
        is_memory = has_failed and OUT_OF_MEMORY.search(end.output)
        reason = ExitReason.MEMORY if is_memory else end.reason
        return replace(end, reason=reason, enforced_by="bubblewrap, rlimits")

    def _release(self) -> None:
        super()._release()
        for fd in (self._init_fd, self._status_fd):
            if fd >= 0:
                os.close(fd)
        if self._group:
            self._group.remove()
