"""What every box does the same way: its folder, its channel, its wall clock, and ending exactly once.

How a program is started, ended and accounted for is left to the three hooks of a subclass.
"""

from __future__ import annotations

import shutil
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from warmfront.errors import SandboxFailed
from warmfront.sandbox.base import BoxExit, ExitReason, Template
from warmfront.sandbox.fifo_channel import FifoChannel, wait_readable
from warmfront.sandbox.output_reader import OutputReader

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class ChannelBox(ABC):
    """A box on a folder of the host. Subclasses start, kill and bury the program."""

    def __init__(self, template: Template, folder: Path) -> None:
        self.template = template
        self.folder = folder
        for name in template.outputs:
            (folder / name).touch()
            (folder / name).chmod(0o666)
        self._channel: FifoChannel | None = FifoChannel(folder)
        self._deadline: float | None = None
        self._cause: ExitReason | None = None
        self._exit: BoxExit | None = None
        self._output: OutputReader
        self._failure: str | None = None  # set by a subclass if it was the sandbox that broke
        self._is_started = False
        self._starting = threading.Lock()
        self._ending = threading.Lock()
        # One of each may be under way at a time; destroy waits for them before it closes what they use.
        self._sending = threading.Lock()
        self._receiving = threading.Lock()
        self._waiting = threading.Lock()

    def go(self) -> None:
        """Start the program if it was not started ahead of time; the wall clock starts now."""
        self._open_files_to_program()
        self.start()
        self._deadline = time.monotonic() + self.template.limits.wall_s

    def start(self) -> None:
        """Start the program, once. It blocks on `commands` until it is sent one."""
        with self._starting:
            if not self._is_started and self._cause is None:
                try:
                    self._start()
                except OSError as error:
                    raise SandboxFailed(f"The box could not be started: {error}") from error
                self._is_started = True

    def is_alive(self) -> bool:
        """Whether the program was started and has not ended."""
        return self._is_started and self._exit is None and not wait_readable(self._ended_fd(), deadline=0)

    def send(self, data: bytes) -> None:
        """Write to the program's `commands`. A program that is gone is noticed by `receive`."""
        with self._sending:
            if self._channel and self._is_started:
                self._channel.send(data, ended_fd=self._ended_fd(), deadline=self._until())

    def receive(self, size: int, timeout_s: float | None = None) -> bytes:
        """Read exactly `size` bytes of `answers`; fewer mean that the program ended or ran out of time.

        `TimeoutError` after `timeout_s`, if that comes before the wall clock runs out.
        """
        with self._receiving:
            if not (self._channel and self._is_started):
                return b""
            deadline = self._within(timeout_s)
            data = self._channel.receive(size, ended_fd=self._ended_fd(), deadline=deadline)
            is_late = len(data) < size and deadline < self._until() and time.monotonic() >= deadline
            if is_late and self.is_alive():
                raise TimeoutError
            return data

    def wait(self, timeout_s: float | None = None) -> BoxExit:
        """Wait for the end, at most `timeout_s` or until the wall clock runs out, and say how it ended."""
        with self._waiting:
            if self._exit is None and self._is_started:
                if not wait_readable(self._ended_fd(), deadline=self._within(timeout_s)):
                    self.end(ExitReason.TIMED_OUT)
                self._finish()
            if self._failure and self._cause is None:
                raise SandboxFailed(self._failure)
        return self._exit or BoxExit(reason=self._cause or ExitReason.DESTROYED)

    def end(self, cause: ExitReason) -> None:
        """Kill everything inside. The first cause is the one that counts."""
        self._cause = self._cause or cause
        with self._ending:  # what `_kill` uses is closed after the end
            if self._is_started and self._exit is None:
                self._kill()

    def destroy(self) -> None:
        """End every process inside and remove the folder. Safe to call twice, from any thread."""
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
                found = self._bury()
                if self._output.is_flood:
                    self._cause = self._cause or ExitReason.OUTPUT
                self._exit = self._explain(found)

    def _read_output(self, chunks: Iterable[bytes]) -> None:
        """For `_start`: keep what the program prints, and kill it if that is too much."""
        limit_bytes = self.template.limits.output_bytes
        self._output = OutputReader(chunks, limit_bytes=limit_bytes, on_flood=self._kill)

    def _explain(self, found: BoxExit) -> BoxExit:
        """Put our own reason for the end in place of the signal that it took."""
        if self._cause is None or (
            found.reason is ExitReason.MEMORY and self._cause is not ExitReason.DESTROYED
        ):
            return found
        return replace(found, reason=self._cause, code=None, signal=None)

    def _until(self) -> float:
        if self._deadline is None:
            raise RuntimeError("the box has no wall clock yet: go() comes first")
        return self._deadline

    def _within(self, timeout_s: float | None) -> float:
        return self._until() if timeout_s is None else min(self._until(), time.monotonic() + timeout_s)

    def _open_files_to_program(self) -> None:
        """Let the program read the job's files whatever the umask was; others cannot reach the folder."""
        for path in self.folder.rglob("*"):
            if path.is_symlink():
                continue
            mode = path.stat().st_mode
            needed = 0o055 if path.is_dir() else 0o044
            if mode & needed != needed:
                path.chmod(mode & 0o7777 | needed)

    @abstractmethod
    def _start(self) -> None:
        """Start the program under every limit of the template."""

    @abstractmethod
    def _ended_fd(self) -> int:
        """A descriptor that is readable once the program is gone."""

    @abstractmethod
    def _kill(self) -> None:
        """Kill every process inside, at once. May be called more than once, and from any thread."""

    @abstractmethod
    def _bury(self) -> BoxExit:
        """See to it that nothing is left running, and say how it ended. Called once, after the end."""

    @abstractmethod
    def _release(self) -> None:
        """Close what `_start` opened. Called once, when nobody uses the box any more."""
