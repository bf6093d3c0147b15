"""The commands of a task, run as processes of this machine that end with their VM.

They have process, mount and network namespaces of their own: killing the first process kills every one that
came of it, and each VM has a loopback to itself. It is no sandbox: what runs here is trusted.
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

#: As dstack's runner does: a command that was interrupted and goes on is hung up on, then killed.
_HANG_UP_DELAY_S, _KILL_DELAY_S = 5.0, 10.0
#: Output that is still on its way when its process has ended.
_DRAIN_S = 2.0
#: Dies with whoever started it, however that ends, and takes all of its namespace along.
_ENTER = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--pid", "--net", "--fork", "--kill-child=KILL", "--mount-proc"),
    *(sys.executable, "-I", "-S", str(container_init.__file__)),
)


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """How a job ended, in the words of dstack's runner."""

    state: str
    exit_status: int | None = None
    termination_reason: str = ""
    termination_message: str = ""


class Job:
    """One run of a task's commands."""

    def __init__(
        self,
        *,
        submission: Mapping[str, Any],
        archives: Mapping[str, bytes],
        places: PathMap,
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
        self._places = places
        self._emit = emit
        self._process: asyncio.subprocess.Process | None = None
        self._stops = False

    async def run(self) -> JobResult:
        """Run to the end."""
        self._places.make()
        for archive in self._spec.get("file_archives") or []:
            self._unpack(archive["id"], archive["path"])
        terminal, side = pty.openpty()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *_ENTER,
                *map(self._places.rewrite, self._spec["commands"]),
                stdin=side,
                stdout=side,
                stderr=side,
                cwd=self._places.working_dir,
                env=self._environment(),
            )
        finally:
            os.close(side)
        try:
            return await self._follow(self._process, terminal)
        finally:
            await self.kill()
            os.close(terminal)

    def stop(self) -> None:
        """Interrupt the command, as dstack's runner does; after a while it is killed."""
        self._stops = True
        if self._process is None or self._process.returncode is not None:
            return
        self._signal(signal.SIGINT)
        loop = asyncio.get_running_loop()
        loop.call_later(_HANG_UP_DELAY_S, self._signal, signal.SIGHUP)
        loop.call_later(_KILL_DELAY_S, self._kill)

    async def kill(self) -> None:
        """End it, and all that came of it, and return when it is gone."""
        self._kill()
        if self._process is not None:
            await self._process.wait()

    async def connect(self, port: int) -> socket.socket:
        """A connection to a port that one of its processes listens on."""
        if self._process is None or self._process.returncode is not None:
            raise ConnectionRefusedError("Nothing runs.")
        return await network.connect(self._process.pid, port)

    def _signal(self, sign: signal.Signals) -> None:
        """To the command itself, and not to what it started: that is how the runner does it."""
        if self._process is not None and self._process.returncode is None:
            with suppress(OSError, IndexError):  # it has ended by itself, or has not yet begun
                os.kill(_child_of(_child_of(self._process.pid)), sign)

    def _kill(self) -> None:
        """The first process of the namespace ends after all others: whoever waits for it knows them gone."""
        if self._process is None or self._process.returncode is not None:
            return
        try:
            os.kill(_child_of(self._process.pid), signal.SIGKILL)
        except (OSError, IndexError):  # there is none yet
            self._process.kill()

    async def _follow(self, process: asyncio.subprocess.Process, terminal: int) -> JobResult:
        loop = asyncio.get_running_loop()
        silent = asyncio.Event()

        def read() -> None:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # nobody has the other side any more
                data = b""
            if data:
                self._emit(data)
            else:
                loop.remove_reader(terminal)
                silent.set()

        loop.add_reader(terminal, read)
        try:
            end = await self._wait(process)
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_S):
                    await silent.wait()
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
        if self._stops:
            return JobResult(state="terminated")
        return JobResult(state="failed" if code else "done", exit_status=code if code >= 0 else 128 - code)

    def _environment(self) -> dict[str, str]:
        """The image's, which is this machine with our Python first, and what the task adds to it."""
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        given = {name: self._places.rewrite(value) for name, value in (self._spec.get("env") or {}).items()}
        return {"PATH": path, "LANG": "C.UTF-8", **self._names, **given, "HOME": str(self._places.home)}

    def _unpack(self, archive_id: str, path: str) -> None:
        """The archive has one file or directory, which gets the name that the task wants for it."""
        target = self._places.real(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(self._archives[archive_id])) as archive:
            # Python 3.11.2, which is Debian's, knows no filters yet, nor TarInfo.replace.
            archive.extraction_filter = getattr(tarfile, "data_filter", _as_it_is)
            for member in archive.getmembers():
                inner = PurePosixPath(member.name).parts[1:]
                renamed = copy.copy(member)
                renamed.name = str(PurePosixPath(target.name, *inner))
                archive.extract(renamed, target.parent)


def _as_it_is(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo:
    del path  # every filter is handed it
    return member


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
