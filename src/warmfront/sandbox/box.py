"""The common part of all boxes: the folder, the channel, the time limits, and a single shutdown.

Subclasses implement how a program is started, killed and accounted for.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from warmfront.errors import NoSandbox, SandboxFailed
from warmfront.sandbox.base import BoxExit, BoxUsage, ExitReason, Template
from warmfront.sandbox.box_clock import BoxClock, CallTimer
from warmfront.sandbox.fifo_channel import FifoChannel, wait_readable
from warmfront.sandbox.process_tree import (
    FREEZE_TIMEOUT_S,
    LONGEST_PAUSE_S,
    PROC,
    READY,
    WaitingTimes,
    state_of_task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Freezer(Protocol):
    """A mechanism that stops and resumes all processes of a box."""

    def freeze(self) -> None:
        """Begin to stop every process."""

    def wait_frozen(self) -> bool:
        """Wait until every process is stopped, was killed or was thawed. Raises `TimeoutError`.

        Returns False if the kernel cannot complete this attempt: thaw the processes and freeze them again.
        """

    def thaw(self) -> None:
        """Resume every process. A box without processes is not an error."""


class ChannelBox(ABC):
    """A box with a folder on the host and a FIFO channel. Subclasses start, kill and reap the program."""

    def __init__(self, template: Template, folder: Path) -> None:
        self.template = template
        self.folder = folder
        for name in template.outputs:
            (folder / name).touch()
            (folder / name).chmod(0o666)
        self._channel: FifoChannel | None = FifoChannel(folder)
        self._clock: BoxClock | None = None
        self._cause: ExitReason | None = None
        self._exit: BoxExit | None = None
        self._output: OutputReader
        self._usage = BoxUsage(cpu_s=0.0, waited_s=0.0)
        self._waiting_times = WaitingTimes()
        self._proc = PROC  # the /proc in which the ids from `_tasks` are valid
        self._failure: str | None = None  # set by a subclass if the sandbox failed, not the program
        self._is_started = False
        self._was_out_of_memory = False  # at the time it was killed for another reason
        self._starting = threading.Lock()
        self._ending = threading.Lock()
        # At most one `send`, one `receive` and one `wait` run at a time. `destroy` waits for them before it
        # closes what they use.
        self._sending = threading.Lock()
        self._receiving = threading.Lock()
        self._waiting = threading.Lock()

    def go(self) -> None:
        """Start the clock of the time limits, and the program if it was not started ahead of time."""
        self._make_files_readable()
        self.start()
        self._clock = BoxClock(self.template.limits, self)

    def start(self) -> None:
        """Start the program, once. It blocks on `commands` until the first command is sent."""
        with self._starting:
            if not self._is_started and self._cause is None:
                try:
                    self._start()
                except OSError as error:
                    raise SandboxFailed(f"The box could not be started: {error}") from error
                self._is_started = True

    def is_alive(self) -> bool:
        """Return whether the program was started and has not ended."""
        return self._is_started and self._exit is None and not wait_readable(self._ended_fd(), deadline=0)

    def send(self, data: bytes) -> None:
        """Write to the program's `commands`. If the program has ended, the next `receive` shows it."""
        with self._sending:
            if self._channel and self._is_started:
                timer, rest = self._timer(), memoryview(data)
                while rest:
                    deadline = timer.next_sample()
                    rest = rest[self._channel.send(rest, ended_fd=self._ended_fd(), deadline=deadline) :]
                    if rest and (time.monotonic() < deadline or timer.is_over()):
                        return

    def receive(
        self, size: int, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None
    ) -> bytes:
        """Read `size` bytes from `answers`; fewer if the program ended or is out of time.

        Raises `TimeoutError` if a limit of this call is reached while the program is still running.
        """
        with self._receiving:
            if not (self._channel and self._is_started):
                return b""
            timer = self._timer(timeout_s, cpu_timeout_s)
            data = bytearray(size)
            rest = memoryview(data)
            while rest:
                deadline = timer.next_sample()
                count = self._channel.receive_into(rest, ended_fd=self._ended_fd(), deadline=deadline)
                rest = rest[count:]
                if rest and time.monotonic() < deadline:
                    break  # the program ended, or closed its end
                if rest and timer.is_over():
                    if timer.is_call_over and self.is_alive():
                        raise TimeoutError
                    break
            return bytes(memoryview(data)[: size - len(rest)])

    def wait(self, timeout_s: float | None = None, *, cpu_timeout_s: float | None = None) -> BoxExit:
        """Wait until the program ends, kill it at the time limit, and return how it ended."""
        with self._waiting:
            if self._exit is None and self._is_started:
                timer = self._timer(timeout_s, cpu_timeout_s)
                while not wait_readable(self._ended_fd(), deadline=timer.next_sample()):
                    if timer.is_over():
                        self.end(ExitReason.TIMED_OUT)
                        break
                self._finish()
            if self._failure and self._cause is None:
                raise SandboxFailed(self._failure)
        return self._exit or BoxExit(reason=self._cause or ExitReason.DESTROYED)

    def end(self, cause: ExitReason) -> None:
        """Kill every process inside for this cause.

        If it is called repeatedly, the first cause is reported.
        """
        self._cause = self._cause or cause
        with self._ending:  # `_finish` closes what `_kill` uses
            if self._is_started and self._exit is None:
                self._was_out_of_memory = self._was_out_of_memory or self._is_out_of_memory()
                self._kill()

    def freeze(self) -> None:
        """Stop every process of the box; return when all of them are stopped. Raises `TimeoutError`."""
        deadline = time.monotonic() + FREEZE_TIMEOUT_S
        while (freezer := self._begin_to_freeze()) and not freezer.wait_frozen():
            if time.monotonic() > deadline:
                raise TimeoutError(f"freezing the box took longer than {FREEZE_TIMEOUT_S:g} s")
            freezer.thaw()
            time.sleep(LONGEST_PAUSE_S)

    def _begin_to_freeze(self) -> Freezer | None:
        with self._ending:  # a box that was killed must stay thawed, or its processes would not end
            if not self._is_started or self._exit is not None or self._cause is not None:
                return None
            freezer = self._freezer()
            freezer.freeze()
            return freezer

    def thaw(self) -> None:
        """Let the processes of a frozen box continue."""
        with self._ending:
            if self._is_started and self._exit is None:
                self._freezer().thaw()

    def usage(self) -> BoxUsage:
        """Return the time that the box has used since it was started. This also works after its end."""
        with self._ending:
            if self._is_started and self._exit is None:
                self._usage = self._read_usage()
        return self._usage

    def set_cpu_weight(self, weight: int) -> None:
        """Set the box's share of a contended CPU, if there is a cgroup."""
        with self._ending:
            if self._is_started and self._exit is None:
                self._set_cpu_weight(weight)

    def _set_cpu_weight(self, weight: int) -> None:  # noqa: B027 - boxes without a cgroup do nothing
        """Set the weight of the cgroup."""

    def set_cpus(self, cpus: set[int]) -> bool:
        """Restrict the tasks of the box to these CPUs; return whether that was possible."""
        with self._ending:
            is_running = self._is_started and self._exit is None
            # With ids of another pid namespace, unrelated processes would be moved.
            tasks = self._tasks() if is_running and self.sees_tasks and self._proc == PROC else []
        try:
            for task in tasks:
                with contextlib.suppress(ProcessLookupError):  # it has just ended
                    os.sched_setaffinity(task, cpus)
        except OSError:
            return False
        return bool(tasks)

    def cpu_s(self) -> float:
        """Return the CPU time so far."""
        with self._ending:
            if self._is_started and self._exit is None:
                return self._read_cpu_s()
        return self._usage.cpu_s

    @property
    def sees_tasks(self) -> bool:
        """Whether the states of the tasks are visible here."""
        return True

    def has_ready_task(self) -> bool:
        """Return whether a task is running or ready to run, if the tasks are visible."""
        with self._ending:
            tasks = self._tasks() if self._is_started and self._exit is None else []
        return any(state_of_task(task, self._proc) in READY for task in tasks)

    def _read_usage(self) -> BoxUsage:
        waited_s = self._waiting_times.total_s(self._tasks(), self._proc) if self.sees_tasks else None
        return BoxUsage(cpu_s=self._read_cpu_s(), waited_s=waited_s)

    def destroy(self) -> None:
        """Kill every process inside and remove the folder. Idempotent; callable from any thread."""
        with self._starting:
            self.end(ExitReason.DESTROYED)
        with self._waiting, self._sending, self._receiving:
            if self._channel is None:
                return
            if self._is_started:
                self._finish()
            self._channel.close()
            self._channel = None
            self._release()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.destroy()

    def _finish(self) -> None:
        with self._ending:
            if self._exit is None:
                self._usage = self._read_usage()
                end = self._reap()
                if self._was_out_of_memory:
                    end = replace(end, reason=ExitReason.MEMORY)
                if self._output.is_flood:
                    self._cause = self._cause or ExitReason.OUTPUT
                self._exit = self._with_cause(end)

    def _read_output(self, chunks: Iterable[bytes]) -> None:
        """Collect the output of the program, and kill it at the output limit. Called by `_start`."""
        limit_bytes = self.template.limits.output_bytes
        self._output = OutputReader(chunks, limit_bytes=limit_bytes, on_flood=self._kill)

    def _with_cause(self, end: BoxExit) -> BoxExit:
        """Replace the signal that killed the program with the reason why we sent it."""
        if self._cause is None or (
            end.reason is ExitReason.MEMORY and self._cause is not ExitReason.DESTROYED
        ):
            return end
        return replace(end, reason=self._cause, code=None, signal=None)

    def _timer(self, timeout_s: float | None = None, cpu_timeout_s: float | None = None) -> CallTimer:
        if self._clock is None:
            raise RuntimeError("the clock has not been started: call go() first")
        return CallTimer(self._clock, timeout_s=timeout_s, cpu_timeout_s=cpu_timeout_s)

    def _make_files_readable(self) -> None:
        """Make the files of the job readable for the program. Other users cannot access the folder."""
        for path in self.folder.rglob("*"):
            if path.is_symlink():
                continue
            mode = path.stat().st_mode
            needed = 0o055 if path.is_dir() else 0o044
            if mode & needed != needed:
                path.chmod(mode & 0o7777 | needed)

    @abstractmethod
    def _start(self) -> None:
        """Start the program with all limits of the template."""

    @abstractmethod
    def _ended_fd(self) -> int:
        """Return a descriptor that becomes readable when the program has ended."""

    @abstractmethod
    def _kill(self) -> None:
        """Kill every process inside immediately, even a frozen one. Idempotent; callable from any thread."""

    @abstractmethod
    def _freezer(self) -> Freezer:
        """Return the freezer of the started box."""

    @abstractmethod
    def _read_cpu_s(self) -> float:
        """Return the CPU time of the started box, which never decreases."""

    @abstractmethod
    def _tasks(self) -> list[int]:
        """Return the ids of all threads of the started box, if they are visible here."""

    def _is_out_of_memory(self) -> bool:
        """Return whether the started box is out of memory, if the kernel reports that while the box runs."""
        return False

    @abstractmethod
    def _reap(self) -> BoxExit:
        """Kill the remaining processes, reap them and return how the program ended.

        Called once, after the end.
        """

    @abstractmethod
    def _release(self) -> None:
        """Close everything that `_start` opened. Called once, after the last use of the box."""


#: The uid and gid of user `nobody`, as which programs run on the host if we are root.
UNPRIVILEGED_ID = 65534

PREFIX = "warmfront-"
LOCK = "lock"

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - names in it are random
#: Minimum free space: one job could fill the small tmpfs of a container.
MIN_FREE_BYTES = 1 << 30


class BoxFolders:
    """The folders of one sandbox. `owner` identifies this sandbox in folders, cgroups and containers."""

    def __init__(self, kind: str, base: Path | None = None) -> None:
        self.base = base or default_base()
        _make_base(self.base)
        self._kind = f"{PREFIX}{kind}-"
        self.owner = f"{self._kind}{os.urandom(8).hex()}"
        self._root = self.base / self.owner
        self._lock = self._create_locked_root()

    def make(self) -> Path:
        """Create an empty folder for a new box."""
        folder = self._root / os.urandom(4).hex()
        folder.mkdir()
        # The parent directory keeps other users out; the program inside may have any uid.
        folder.chmod(0o755)
        return folder

    def close(self) -> None:
        """Remove all folders and release the lock."""
        shutil.rmtree(self._root, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def dead_owners(self) -> list[str]:
        """Return the owners of this kind, under the same base, whose process has ended."""
        owners = (path.parent.name for path in self.base.glob(f"{self._kind}*/{LOCK}"))
        return [owner for owner in owners if owner != self.owner and self.is_dead(owner)]

    def is_dead(self, owner: str) -> bool:
        """Return whether that owner's lock is free."""
        try:
            lock = os.open(self.base / owner / LOCK, os.O_RDONLY)
        except FileNotFoundError:
            return True
        except PermissionError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def remove_owner(self, owner: str) -> None:
        """Remove the folders of an owner whose process has ended."""
        shutil.rmtree(self.base / owner, ignore_errors=True)

    def _create_locked_root(self) -> int:
        # Take the lock before the directory gets its final name, so that it is never visible without a lock.
        unnamed = self.base / f".warmfront-{os.urandom(8).hex()}"
        unnamed.mkdir(mode=0o700)
        lock = os.open(unnamed / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            os.chown(unnamed, 0, UNPRIVILEGED_ID)
            unnamed.chmod(0o710)
        unnamed.rename(self._root)
        return lock


def _make_base(base: Path) -> None:
    """Create the base directory if it does not exist, as on a new VM."""
    try:
        base.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NoSandbox(
            f"The directory for boxes, {base}, cannot be created: {error.strerror or error}.",
            hint="Set WARMFRONT_BOX_DIR to a directory that this user can write to.",
        ) from None


def default_base() -> Path:
    """Return shared memory, which is fastest, if it is large enough; otherwise the temporary directory."""
    with contextlib.suppress(OSError):
        space = os.statvfs(SHARED_MEMORY)
        writable = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
        if writable and is_tmpfs(SHARED_MEMORY) and space.f_bavail * space.f_frsize >= MIN_FREE_BYTES:
            return SHARED_MEMORY
    from tempfile import gettempdir  # noqa: PLC0415 - loads a random number generator

    return Path(gettempdir())


def is_tmpfs(path: Path) -> bool:
    """Return whether a tmpfs is mounted at this path."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return any(fields[1:3] == [str(path), "tmpfs"] for fields in map(str.split, mounts))


def is_world_readable(path: Path) -> bool:
    """Return whether every user of the host can access and read this path."""
    path = path.resolve()
    if any(not parent.stat().st_mode & 0o001 for parent in path.parents):
        return False
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed


class OutputReader:
    """A background thread that reads the output to its end and keeps it up to the limit.

    It keeps reading beyond the limit and calls `on_flood` in another thread, because some programs cannot be
    killed while they block on a full pipe.
    """

    def __init__(self, chunks: Iterable[bytes], *, limit_bytes: int, on_flood: Callable[[], None]) -> None:
        self._chunks = chunks
        self._limit_bytes = limit_bytes
        self._on_flood = on_flood
        self._kept = bytearray()
        self._killer: threading.Thread | None = None
        self._thread = threading.Thread(target=self._read, name="warmfront-output", daemon=True)
        self._thread.start()

    def finish(self, timeout_s: float) -> bytes:
        """Return the output. Call it after every process that could print has ended."""
        self._thread.join(timeout_s)
        if self._killer:
            self._killer.join(timeout_s)
        return bytes(self._kept)

    @property
    def is_flood(self) -> bool:
        """Whether the output exceeded the limit."""
        return self._killer is not None

    def _read(self) -> None:
        for chunk in self._chunks:
            remaining = self._limit_bytes - len(self._kept)
            self._kept += chunk[:remaining]
            if len(chunk) > remaining and self._killer is None:
                self._killer = threading.Thread(target=self._on_flood, name="warmfront-flood", daemon=True)
                self._killer.start()
