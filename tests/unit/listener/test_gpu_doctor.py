"""`warmfront doctor --gpu` on machines without a usable GPU: it reports what is missing, and exits with 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support.gpu_tree import make_gpu_tree
from warmfront.hip.gpu_host import GpuHost
from warmfront.judge.verdict_health import BROKEN
from warmfront.listener import gpu_doctor

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LINES = 10


def test_a_machine_without_a_gpu_is_described_in_ten_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line has a result, what was found and what to do; there is no traceback."""
    host = GpuHost(root=tmp_path)
    assert gpu_doctor.report(as_json=False, full=False, toolchain=None, host=host) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= LINES
    assert [line for line in lines if line.startswith("no     /dev/kfd")]
    assert all("→" in line for line in lines if line.startswith("no "))
    assert lines[-1].startswith("No: this machine cannot judge kernels on a GPU; ")


def test_the_report_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON is the report that the listener keeps for a VM."""
    assert gpu_doctor.report(as_json=True, full=True, toolchain=None, host=GpuHost(root=tmp_path)) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["stage"]) == (False, "full")
    failed = {check["name"] for check in report["checks"] if not check["ok"]}
    assert {"amdgpu driver", "/dev/kfd", "GPU"} <= failed
    assert all(check["remedy"] for check in report["checks"] if not check["ok"])


def test_a_gpu_without_hipcc_is_not_enough(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image without hipcc fails its own check only."""
    monkeypatch.setattr(gpu_doctor, "find_hipcc", lambda: None)
    host = make_gpu_tree(tmp_path)
    assert gpu_doctor.report(as_json=True, full=False, toolchain=None, host=host) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["summary"] == "hipcc: not on PATH"


def test_an_unknown_toolchain_is_a_failed_check(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelled name is reported like any other failure."""
    assert gpu_doctor.report(as_json=True, full=False, toolchain="rocket", host=None) == 1
    assert "rocket" in json.loads(capsys.readouterr().out)["summary"]


def test_names_of_all_checks_fit_into_their_column() -> None:
    """The longest names are those of broken kernels."""
    assert max(len(f"GPU after: {kernel.name}") for kernel in BROKEN) < gpu_doctor.FULL_NAME_WIDTH
