"""How `warmfront serve` starts, refuses to, and stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = (Path(__file__).parents[3] / "examples" / "leaky_relu.hip").read_text()
COMMAND = (sys.executable, "-m", "warmfront", "serve")
REQUEST = {
    "solution_code": EXAMPLE,
    "problem": "leaky-relu",
    "gpu_type": "MI300X",
    "dtype": "float32",
    "language": "hip",
    "endpoint": "checker",
}


def _environ(data_dir: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "WARMFRONT_DATA_DIR": str(data_dir), "WARMFRONT_PORT": "0", **more}


def _refused(tmp_path: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = _environ(tmp_path, **more)
    return subprocess.run([*COMMAND, *words], env=environ, capture_output=True, text=True, check=False)


@contextmanager
def _serving(data_dir: Path, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service and its address; killed at the end if it still runs."""
    with (
        (data_dir / "stderr").open("w") as stderr,
        subprocess.Popen(
            COMMAND, env=_environ(data_dir, **more), stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        assert process.stdout
        try:
            lines = (re.search(r"listens on (http://\S+)", line) for line in process.stdout)
            yield process, next(found[1] for found in lines if found)
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - neither is ever bound
def test_a_door_that_is_open_to_others_needs_a_key(tmp_path: Path, host: str) -> None:
    """Bound to anything but loopback the service does not start without keys, and says how to make one."""
    result = _refused(tmp_path, "--host", host)
    assert result.returncode == 2
    assert host in result.stderr
    assert "warmfront keys create" in result.stderr
    assert not result.stdout


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    """Who serves on a port that is taken is told which, and what to do, in two lines."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = _refused(tmp_path, "--port", port)
    assert result.returncode == 3
    problem, hint = result.stderr.splitlines()
    assert port in problem
    assert "--port" in hint


def test_a_bad_setting_stops_the_start(tmp_path: Path) -> None:
    """A value that makes no sense is named before anything is made."""
    result = _refused(tmp_path / "data", AMD_VM_MAX_CONCURRENT="many")
    assert result.returncode == 2
    assert "AMD_VM_MAX_CONCURRENT" in result.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_clean(tmp_path: Path, number: signal.Signals) -> None:
    """It answers, and when it is told to stop it ends with 0 and nothing to complain of."""
    with _serving(tmp_path) as (process, url):
        assert httpx.get(f"{url}/health").status_code == 200
        process.send_signal(number)
        assert process.wait() == 0
    assert not (tmp_path / "stderr").read_text()


def test_a_stop_ends_streams_and_local_vms(tmp_path: Path) -> None:
    """A client that follows is let go, the VM on its way is released, and its record says until when."""
    rehearsal = {"WARMFRONT_REHEARSE": "true", "WARMFRONT_REHEARSE_BOOT": "600"}
    with (
        _serving(tmp_path, **rehearsal) as (process, url),
        httpx.stream("POST", f"{url}/api/amd/submit", json=REQUEST, timeout=None) as stream,  # noqa: S113 - it ends
    ):
        seen = []
        for line in stream.iter_lines():
            seen += [line.removeprefix("event: ")] if line.startswith("event: ") else []
            if seen[-1:] == ["PROVISIONING"]:
                process.terminate()
        assert process.wait() == 0
    assert seen[0] == "IN_QUEUE"
    records = [json.loads(path.read_text()) for path in (tmp_path / "vms").glob("*/lease.json")]
    assert records
    assert {record["phase"] for record in records} == {"ended"}
    assert not [record for record in records if record["ended_at"] is None]
