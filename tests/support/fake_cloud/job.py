"""A job: the commands of a task, run as processes of this machine that end with their VM.

They run in their own process, mount and network namespaces: killing the first process kills all others, and
each VM has its own loopback interface. This is not a sandbox; the commands are trusted.
"""

from __future__ import annotations

import asyncio
import copy
import io
import os
import pty
import signal
import sys
import tarfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from tests.support.fake_cloud import container_init, network

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from tests.support.fake_cloud.path_map import PathMap

#: Like dstack's runner: SIGINT first, then SIGHUP, then SIGKILL.
_HANG_UP_DELAY_S, _KILL_DELAY_S = 5.0, 10.0
#: Limit for reading the remaining output of a process that has ended; only an output that is never closed
#: reaches it.
_DRAIN_TIMEOUT_S = 60.0
#: Starts namespaces that the kernel ends when this process ends, however it ends.
_CONTAINER_COMMAND = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--pid", "--net", "--fork", "--kill-child=KILL", "--mount-proc"),
    *(sys.executable, "-I", "-S", str(container_init.__file__)),
)


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """How a job ended, in the terms of dstack's runner."""

    state: str
    exit_status: int | None = None
    termination_reason: str = ""
    termination_message: str = ""


class Job:
    """One execution of a task's commands."""

    def __init__(
        self,
        *,
        submission: Mapping[str, Any],
        archives: Mapping[str, bytes],
        paths: PathMap,
        image_environ: Mapping[str, str],
        emit: Callable[[bytes], None],
    ) -> None:
        self._spec = submission["job_spec"]
        self._names = {
            "DSTACK_RUN_ID": submission["run"]["id"],
            "DSTACK_RUN_NAME": submission["run"]["run_spec"]["run_name"],
            "DSTACK_JOB_ID": submission["job_submission"]["id"],
            **(submission.get("secrets") or {}),
        }
        self._archives = archives
        self._paths = paths
        self._image_environ = image_environ
        self._emit = emit
        self._process: asyncio.subprocess.Process | None = None
        self._is_stopping = False

    async def run(self) -> JobResult:
        """Run the commands and return the result."""
        self._paths.create_folders()
        for archive in self._spec.get("file_archives") or []:
            self._unpack(archive["id"], archive["path"])
        terminal, child_side = pty.openpty()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *_CONTAINER_COMMAND,
                *map(self._paths.rewrite, self._spec["commands"]),
                stdin=child_side,
                stdout=child_side,
                stderr=child_side,
                cwd=self._paths.working_dir,
                env=self._environment(),
            )
        finally:
            os.close(child_side)
        try:
            return await self._follow(self._process, terminal)
        finally:
            await self.kill()
            os.close(terminal)

    async def execute(self, command: str) -> tuple[int, str]:
        """Run another command as in a shell of the container; return its exit code and output."""
        process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", self._paths.rewrite(command)),
            cwd=self._paths.working_dir,
            env={**self._image_variables(), "HOME": str(self._paths.home)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        return process.returncode or 0, output.decode(errors="replace")

    def stop(self) -> None:
        """Interrupt the command as dstack's runner does; kill it if it does not end."""
        self._is_stopping = True
        if self._process is None or self._process.returncode is not None:
            return
        self._signal(signal.SIGINT)
        loop = asyncio.get_running_loop()
        loop.call_later(_HANG_UP_DELAY_S, self._signal, signal.SIGHUP)
        loop.call_later(_KILL_DELAY_S, self._kill)

    async def kill(self) -> None:
        """Kill all processes of the job and return when they have ended."""
        self._kill()
        if self._process is not None:
            await self._process.wait()

    async def connect(self, port: int) -> socket.socket:
        """Connect to a port on which one of the job's processes listens."""
        if self._process is None or self._process.returncode is not None:
            raise ConnectionRefusedError("The job does not run.")
        return await network.connect(self._process.pid, port)

    def _signal(self, sign: signal.Signals) -> None:
        """Signal the command itself but not its children, as dstack's runner does."""
        if self._process is not None and self._process.returncode is None:
            with suppress(OSError, IndexError):  # it has ended, or has not started yet
                os.kill(_child_of(_child_of(self._process.pid)), sign)

    def _kill(self) -> None:
        """Kill the namespace's init process, which ends after all other processes of the namespace."""
        if self._process is None or self._process.returncode is not None:
            return
        try:
            os.kill(_child_of(self._process.pid), signal.SIGKILL)
        except (OSError, IndexError):  # init has not started yet
            self._process.kill()

    async def _follow(self, process: asyncio.subprocess.Process, terminal: int) -> JobResult:
        loop = asyncio.get_running_loop()
        drained = asyncio.Event()

        def read() -> None:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                data = b""
            if data:
                self._emit(data)
            else:
                loop.remove_reader(terminal)
                drained.set()

        loop.add_reader(terminal, read)
        try:
            end = await self._wait(process)
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_TIMEOUT_S):
                    await drained.wait()
        finally:
            loop.remove_reader(terminal)
        return end

    async def _wait(self, process: asyncio.subprocess.Process) -> JobResult:
        try:
            async with asyncio.timeout(self._spec.get("max_duration") or None):
                code = await process.wait()
        except TimeoutError:
            await self.kill()
            return JobResult(
                state="terminated",
                termination_reason="max_duration_exceeded",
                termination_message="Max duration exceeded",
            )
        if self._is_stopping:
            return JobResult(state="terminated")
        return JobResult(state="failed" if code else "done", exit_status=code if code >= 0 else 128 - code)

    def _environment(self) -> dict[str, str]:
        """Return the environment: the image's variables and the task's."""
        variables = {
            name: self._paths.rewrite(value) for name, value in (self._spec.get("env") or {}).items()
        }
        return {**self._image_variables(), **self._names, **variables, "HOME": str(self._paths.home)}

    def _image_variables(self) -> dict[str, str]:
        """Return the image's environment: this machine's, with our Python first in PATH."""
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        return {"PATH": path, "LANG": "C.UTF-8", **self._image_environ}

    def _unpack(self, archive_id: str, path: str) -> None:
        """Unpack an archive, which has one file or directory, under the name that the task declares."""
        target = self._paths.real(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(self._archives[archive_id])) as archive:
            # Debian's Python 3.11.2 has neither extraction filters nor TarInfo.replace.
            archive.extraction_filter = getattr(tarfile, "data_filter", _unchanged)
            for member in archive.getmembers():
                inner = PurePosixPath(member.name).parts[1:]
                renamed = copy.copy(member)
                renamed.name = str(PurePosixPath(target.name, *inner))
                archive.extract(renamed, target.parent)


def _unchanged(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    del path  # part of the filter interface
    return member


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
