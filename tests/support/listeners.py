"""Start the real listener as a process, send requests to it, and find the leftovers after its end."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from warmfront.listener.protocol import TOKEN_VARIABLE
from warmfront.sandbox.cgroup import find_hierarchy
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "a-token-for-tests"  # noqa: S105 - for tests only
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
COMMAND = (sys.executable, "-m", "warmfront", "listener")

SOURCE = (Path(__file__).parents[2] / "examples" / "leaky_relu.hip").read_text()

#: Correct in its first case, and in an endless loop in the second.
SPINNING = """
#include <hip/hip_runtime.h>
__global__ void leak(const float* input, float alpha, float* output, size_t count) {
    for (size_t i = 0; i < count; ++i) output[i] = input[i] > 0 ? input[i] : alpha * input[i];
}
__global__ void spin(volatile float* output) { while (output[0] == output[0] || output[0] != 1.0f) { } }
extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    static int calls = 0;
    if (calls++ == 0) {
        leak<<<1, 1>>>(input, alpha, output, n * m);
    } else {
        spin<<<1, 1>>>(output);
    }
    (void)hipDeviceSynchronize();
}
"""

#: Only a cancel or the end of the listener stops a spinning kernel; the benchmark is short.
LONG_TIMEOUTS = {
    "WARMFRONT_CASE_TIMEOUT": "600",
    "WARMFRONT_RUN_TIMEOUT": "600",
    "WARMFRONT_BENCH_BUDGET": "0.05",
    "WARMFRONT_BUG_FINDER": "false",
}


def attempt(name: str, **changes: Any) -> dict[str, Any]:
    """Return the JSON body of an attempt."""
    fields = {"source": SOURCE, "file_name": "mine.hip", "problem": "leaky-relu", "dtype": "float32"}
    return {"id": name, **fields, "endpoint": "checker", **changes}


def read_lines(response: httpx.Response) -> list[dict[str, Any]]:
    """Read a stream to its end and return all lines."""
    return [json.loads(line) for line in response.read().split(b"\n") if line]


@dataclass(frozen=True)
class Listening:
    """A running listener."""

    process: subprocess.Popen[str]
    address: str
    boxes: Path  #: directory of its boxes
    http: httpx.Client
    owners: tuple[str, ...] = field(default=())  #: owner names of its sandboxes

    @property
    def vm(self) -> VMInstance:
        """The VM of this listener, for a client."""
        return VMInstance(
            id="vm-1",
            provider="local",
            gpu="MI300X",
            state=VMState.WARM,
            created_at=0.0,
            address=self.address,
        )

    def execute(self, name: str, **changes: Any) -> list[dict[str, Any]]:
        """Post an attempt and read all of its lines."""
        return read_lines(self.http.post("/execute", json=attempt(name, **changes)))

    @contextlib.contextmanager
    def stream(self, name: str, **changes: Any) -> Iterator[Iterator[dict[str, Any]]]:
        """Post an attempt and yield an iterator over its lines as they arrive."""
        with self.http.stream("POST", "/execute", json=attempt(name, **changes)) as response:
            try:
                yield (json.loads(line) for line in response.iter_lines() if line)
            except BaseException:
                self.http.delete(f"/execute/{name}")  # otherwise it would spin during all following tests
                raise

    def loaded_boxes(self) -> list[Path]:
        """Return the folders of boxes that contain a compiled kernel."""
        return [file.parent for file in self.boxes.glob("*/*/solution.so") if file.stat().st_size]

    def leftovers(self) -> list[str]:
        """Return the folders, cgroups and processes of its boxes."""
        hierarchy = find_hierarchy()
        groups = [name for owner in self.owners for name in (hierarchy.names(owner) if hierarchy else [])]
        return [*map(str, self.boxes.iterdir()), *groups, *processes_of(self.boxes)]


def processes_of(folder: Path) -> list[str]:
    """Return the command lines that contain the folder, as that of the first process of every box does."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in words and "--announce" not in words:
                commands.append(words)
    return commands


def spin_until_it_runs(lines: Iterator[dict[str, Any]]) -> None:
    """Read the stream of a spinning kernel up to the case before the one that spins."""
    assert [next(lines)["status"] for _ in range(3)] == ["COMPILING", "CHECKING", "TEST_RESULT"]


@contextlib.contextmanager
def listening(
    folder: Path,
    *options: str,
    command: tuple[str, ...] = COMMAND,
    toolchain: str = "cpu",
    **environ: str,
) -> Iterator[Listening]:
    """Start a listener on a free port; end it when the block is left."""
    boxes, announce = folder / "boxes", folder / "announce.json"
    boxes.mkdir(exist_ok=True)
    env = {**os.environ, **LONG_TIMEOUTS, "WARMFRONT_BOX_DIR": str(boxes), TOKEN_VARIABLE: TOKEN, **environ}
    argv = [*command, "--port", "0", "--toolchain", toolchain, "--announce", str(announce), *options]
    process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        while "listening on" not in (line := process.stdout.readline()):
            assert line, "the listener ended before it accepted connections"
        announced = json.loads(announce.read_text())
        assert announced["pid"] == process.pid
        owners = tuple(path.name for path in boxes.iterdir())
        base_url = announced["address"] if announced["address"].startswith("http") else "http://listener"
        with httpx.Client(base_url=base_url, headers=HEADERS, timeout=60) as http:
            yield Listening(process, announced["address"], boxes, http, owners)
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
