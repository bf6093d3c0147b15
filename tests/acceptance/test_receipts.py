"""Receipts from `warmfront run` to `warmfront verify`, as real processes without a service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "leaky_relu.hip"


@dataclass(frozen=True)
class Machine:
    """A machine with its own data directory."""

    data_dir: Path

    def warmfront(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command; it cannot reach any service."""
        environ = {
            **os.environ,
            "WARMFRONT_DATA_DIR": str(self.data_dir),
            "WARMFRONT_URL": "http://127.0.0.1:9",
        }
        command = [sys.executable, "-m", "warmfront", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


@pytest.fixture(scope="module")
def issued(tmp_path_factory: pytest.TempPathFactory) -> tuple[Machine, Path]:
    """Judge a kernel on a machine, and save its receipt."""
    folder = tmp_path_factory.mktemp("receipts")
    machine, receipt = Machine(folder / "data"), folder / "receipt.json"
    done = machine.warmfront("run", EXAMPLE, "-p", "leaky-relu", "--receipt", receipt)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(receipt) in done.stderr
    return machine, receipt


def test_a_true_receipt_is_valid(issued: tuple[Machine, Path]) -> None:
    """The summary has the problem, the time, the machine and the key."""
    machine, receipt = issued
    done = machine.warmfront("verify", receipt, "--source", EXAMPLE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("VALID  leaky-relu, float32: ACCEPTED\n")
    body = json.loads(receipt.read_bytes())["body"]
    assert body["machine"]["cpu"] in done.stdout
    assert f"{body['avg_runtime_ms']:.4g} ms" in done.stdout
    assert "known from this machine" in done.stdout


def test_a_changed_receipt_is_refused(issued: tuple[Machine, Path], tmp_path: Path) -> None:
    """The exit code is 1, and the reason is printed."""
    machine, receipt = issued
    changed = tmp_path / "changed.json"
    changed.write_bytes(receipt.read_bytes() + b"\n")
    done = machine.warmfront("verify", changed)
    assert (done.returncode, done.stdout.startswith("REFUSED")) == (1, True)
    assert "canonical" in done.stdout


def test_another_source_is_refused(issued: tuple[Machine, Path]) -> None:
    """The receipt of one kernel does not prove anything about another."""
    machine, receipt = issued
    done = machine.warmfront("verify", receipt, "--source", EXAMPLE.with_name("relu.hip"))
    assert done.returncode == 1
    assert "another source" in done.stdout


def test_another_machine_needs_the_key(issued: tuple[Machine, Path], tmp_path: Path) -> None:
    """A receipt is refused where its key is unknown, and valid with a saved key, even after a rotation."""
    machine, receipt = issued
    other = Machine(tmp_path / "other")
    refused = other.warmfront("verify", receipt, "--json")
    assert refused.returncode == 1
    assert json.loads(refused.stdout)["code"] == "UNKNOWN_SIGNING_KEY"
    assert not other.data_dir.exists()
    assert machine.warmfront("signing-key", "rotate").returncode == 0
    keys = tmp_path / "keys.json"
    keys.write_text(machine.warmfront("signing-key", "list", "--json").stdout)
    valid = other.warmfront("verify", receipt, "--key", keys, "--json")
    assert (valid.returncode, json.loads(valid.stdout)["valid"]) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "absent.json"),
        ("verify", EXAMPLE, "--key", EXAMPLE),
        ("verify", EXAMPLE, "--key", EXAMPLE, "--server", "http://127.0.0.1:9"),
        ("run", EXAMPLE, "-p", "leaky-relu", "--receipt", "absent/receipt.json"),
        ("run", EXAMPLE, "-p", "leaky-relu", "--receipt", "r.json", "--endpoint", "checker"),
    ],
)
def test_usage_errors(tmp_path: Path, arguments: tuple[str | Path, ...]) -> None:
    """The exit code is 2, and nothing is judged."""
    done = Machine(tmp_path).warmfront(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("warmfront: ")
