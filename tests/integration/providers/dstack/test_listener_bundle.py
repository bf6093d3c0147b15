"""The listener bundle, without a VM."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from dstack._internal.utils.files import create_file_archive

from warmfront.errors import InfrastructureError
from warmfront.listener.protocol import ExecuteRequest
from warmfront.listener.signed_events import KEY_VARIABLE, SignedEventReader
from warmfront.providers.dstack import listener_bundle

PAGE = Path(__file__).parents[4] / "docs" / "writing-a-problem.md"


def test_bundle_is_self_contained(tmp_path: Path) -> None:
    """The bundle has all of our code that a listener needs, and not the service."""
    packed = listener_bundle.pack(tmp_path)
    assert not (packed / "warmfront" / "api").exists()
    # Isolated mode: the interpreter would otherwise find this checkout.
    done = subprocess.run(
        [sys.executable, "-I", "-c", _LOAD, str(packed)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(packed / "warmfront")]


def test_the_archive_is_as_large_as_we_say(tmp_path: Path) -> None:
    """The archive of the bundle by dstack's client has the computed size."""
    packed = listener_bundle.pack(tmp_path)
    files = {
        path.relative_to(packed).as_posix(): path
        for path in packed.rglob("*")
        if path.is_file() and path != packed / "__main__.py"
    }
    with tempfile.TemporaryFile() as archive:
        create_file_archive(packed, archive)
        size_bytes = archive.seek(0, os.SEEK_END)
    computed_bytes = listener_bundle.archive_bytes(files)
    assert size_bytes <= computed_bytes <= size_bytes + 10_240
    assert computed_bytes < listener_bundle.MAX_BYTES


def test_a_bundle_that_dstack_would_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small problems of an operator count with their headers; the error names the variable."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for number in range(500):
        (folder / f"problem_{number}.py").write_text("# a problem\n")
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(folder))
    with pytest.raises(
        InfrastructureError, match=r"has 2,\d+,\d+ bytes as an archive; dstack accepts"
    ) as raised:
        listener_bundle.pack(tmp_path)
    assert "WARMFRONT_PROBLEMS" in str(raised.value.hint)


def test_bundle_contains_the_operators_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle judges a kernel for a problem of WARMFRONT_PROBLEMS without the variable and the file."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "dot_product.py").write_text(_block("python"))
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(folder))
    packed = listener_bundle.pack(tmp_path)
    monkeypatch.delenv("WARMFRONT_PROBLEMS")
    (folder / "dot_product.py").unlink()
    attempt = ExecuteRequest(
        id="att_1",
        source=_block("cpp"),
        file_name="dot_product.hip",
        problem="dot-product",
        dtype="float32",
        endpoint="checker",
    )
    (tmp_path / "attempt.json").write_text(json.dumps(asdict(attempt)))
    done = subprocess.run(
        [sys.executable, packed, "--once", tmp_path / "attempt.json"],
        env={**os.environ, KEY_VARIABLE: "a key", "WARMFRONT_BUG_FINDER": "false"},
        capture_output=True,
        check=False,
    )
    events = list(SignedEventReader("a key", attempt.id).feed(done.stdout))
    assert [event.fields["status"] for event in events][-1:] == ["CHECKED"], done.stderr
    assert listener_bundle.pack(tmp_path) != packed


def _block(language: str) -> str:
    """Return the page's only code block in a language."""
    (block,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(block)


_LOAD = """
import sys
sys.path[:] = [sys.argv[1], *(path for path in sys.path if not path.endswith("src"))]
import warmfront.listener.__main__, warmfront.problems.sandboxed.proxy, warmfront.sandbox.docker
import warmfront.judge.case_timer, warmfront.judge.output_check, warmfront.judge.buffer_layout
print(*warmfront.__path__)
"""
