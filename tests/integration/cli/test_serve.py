"""How `warmfront serve` starts, fails to start, and stops."""

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


def _serve_and_fail(tmp_path: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environ = _environ(tmp_path, **more)
    return subprocess.run([*COMMAND, *words], env=environ, capture_output=True, text=True, check=False)


@contextmanager
def _serving(data_dir: Path, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a service, yield it with its address, and kill it if it is still running at the end."""
    with (
        (data_dir / "stderr").open("w") as stderr,
        subprocess.Popen(
            COMMAND, env=_environ(data_dir, **more), stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as process,
    ):
        assert process.stdout
        try:
            lines = (re.search(r"listens on (http://\S+)", line) for line in process.stdout)
            yield process, next(match[1] for match in lines if match)
        finally:
            if process.poll() is None:
                process.kill()


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - neither is ever bound
def test_a_public_address_requires_an_api_key(tmp_path: Path, host: str) -> None:
    """Without an API key the service starts on loopback addresses only; the hint shows how to create one."""
    result = _serve_and_fail(tmp_path, "--host", host)
    assert result.returncode == 2
    assert host in result.stderr
    assert "warmfront keys create" in result.stderr
    assert not result.stdout


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    """The error names the port, and the hint names the setting that changes it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        result = _serve_and_fail(tmp_path, "--port", port)
    assert result.returncode == 3
    problem, hint = result.stderr.splitlines()
    assert port in problem
    assert "WARMFRONT_PORT" in hint


def test_an_invalid_setting_prevents_the_start(tmp_path: Path) -> None:
    """The error names the variable, and nothing has been created."""
    result = _serve_and_fail(tmp_path / "data", AMD_VM_MAX_CONCURRENT="many")
    assert result.returncode == 2
    assert "AMD_VM_MAX_CONCURRENT" in result.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_is_clean(tmp_path: Path, number: signal.Signals) -> None:
    """After SIGTERM or SIGINT the service exits with 0 and an empty stderr."""
    with _serving(tmp_path) as (process, url):
        assert httpx.get(f"{url}/health").status_code == 200
        process.send_signal(number)
        assert process.wait() == 0
    assert not (tmp_path / "stderr").read_text()


def test_a_stop_ends_streams_and_local_vms(tmp_path: Path) -> None:
    """The event stream is closed, the VM being provisioned is released, and its lease has an end time."""
    rehearsal = {"WARMFRONT_REHEARSE": "true", "WARMFRONT_REHEARSE_BOOT": "600"}
    with (
        _serving(tmp_path, **rehearsal) as (process, url),
        httpx.stream("POST", f"{url}/api/amd/submit", json=REQUEST, timeout=None) as stream,  # noqa: S113 - it ends
    ):
        statuses: list[str] = []
        for line in stream.iter_lines():
            statuses += [line.removeprefix("event: ")] if line.startswith("event: ") else []
            if statuses[-1:] == ["PROVISIONING"]:
                process.terminate()
        assert process.wait() == 0
    assert statuses[0] == "IN_QUEUE"
    records = [json.loads(path.read_text()) for path in (tmp_path / "vms").glob("*/lease.json")]
    assert records
    assert {record["phase"] for record in records} == {"ended"}
    assert not [record for record in records if record["ended_at"] is None]
