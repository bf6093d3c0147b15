"""Time from start to exit of an empty program: bare, in bubblewrap and in Docker, cold and prepared.

In a prepared box the program is already running; the time from taking the box to the end of the program is
measured. Docker is measured with a private daemon, if one can be started.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.timing import print_bars
from tests.support.docker_daemon import private_docker
from warmfront.errors import NoSandbox
from warmfront.sandbox import BUBBLEWRAP, DOCKER, open_sandbox
from warmfront.sandbox.base import ExitReason, Mount, SandboxLimits, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.sandbox.base import Sandbox

ROUNDS = 15
BARE = "bare exec"

LIMITS = SandboxLimits(
    memory_bytes=256 << 20,
    cpus=2,
    pids=32,
    file_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 16,
    tmp_bytes=1 << 20,
    cpu_s=60,
    wall_s=600,
)

#: With an argument the program waits for one byte on `commands`, as in a prepared box.
PROGRAM = """
#include <fcntl.h>
#include <unistd.h>
int main(int count, char **words) {
    char byte;
    (void)words;
    return count > 1 && read(open("commands", O_RDONLY), &byte, 1) != 1;
}
"""


def main() -> None:
    """Measure all variants alternately, and print each with its ratio to the bare exec."""
    with contextlib.ExitStack() as stack:
        program = _compile(stack)
        subjects: dict[str, Callable[[], float]] = {BARE: lambda: _bare(program)}
        for sandbox in _sandboxes(stack):
            subjects[sandbox.detail] = lambda sandbox=sandbox: _cold(sandbox, program)  # type: ignore[misc]
            subjects[f"{sandbox.detail}, prepared"] = lambda sandbox=sandbox: _prepared(sandbox, program)  # type: ignore[misc]
        seconds = _medians_s(subjects)
    print_bars(seconds)
    for name, value in seconds.items():
        if name != BARE:
            print(f"  {name} relative to {BARE}: {value / seconds[BARE]:.1f}")


def _medians_s(subjects: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Return the median time per variant; each measures itself, to exclude preparation and cleanup."""
    for subject in subjects.values():
        subject()
    times = [[subject() for subject in subjects.values()] for _ in range(ROUNDS)]
    return dict(zip(subjects, map(statistics.median, zip(*times, strict=True)), strict=True))


def _sandboxes(stack: contextlib.ExitStack) -> Iterator[Sandbox]:
    for name in (BUBBLEWRAP, DOCKER):
        try:
            url = stack.enter_context(private_docker()) if name == DOCKER else None
            sandbox = open_sandbox(name, url=url)
        except (NoSandbox, RuntimeError) as error:
            print(f"  not measured: {error}")
        else:
            stack.callback(sandbox.close)
            yield sandbox


def _compile(stack: contextlib.ExitStack) -> Path:
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    directory.chmod(0o755)
    command = ["gcc", "-O1", "-static", "-x", "c", "-", "-o", str(directory / "program")]
    subprocess.run(command, input=PROGRAM.encode(), check=True)
    return directory / "program"


def _bare(program: Path) -> float:
    start = time.perf_counter()
    subprocess.run([program], check=True)
    return time.perf_counter() - start


def _cold(sandbox: Sandbox, program: Path) -> float:
    start = time.perf_counter()
    with sandbox.take(_template(program)) as box:
        box.go()
        done = box.wait()
        elapsed = time.perf_counter() - start
    assert (done.reason, done.code) == (ExitReason.EXITED, 0), done
    return elapsed


def _prepared(sandbox: Sandbox, program: Path) -> float:
    template = _template(program, "wait")
    sandbox.prepare(template)
    time.sleep(0.5)  # let the prepared box finish starting
    start = time.perf_counter()
    with sandbox.take(template) as box:
        box.go()
        box.send(b"x")
        done = box.wait()
        elapsed = time.perf_counter() - start
    assert (done.reason, done.code) == (ExitReason.EXITED, 0), done
    return elapsed


def _template(program: Path, *words: str) -> Template:
    mounts = (Mount(host=program.parent, inside="/programs"),)
    argv = ("/programs/program", *words)
    return Template(name="bench", argv=argv, mounts=mounts, limits=LIMITS)


if __name__ == "__main__":
    main()
