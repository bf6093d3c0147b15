"""The listener bundle, tested without a VM."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
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
    """The archive that dstack's client uploads is no larger than computed, and far below the limit."""
    upload = listener_bundle.pack_for_upload(tmp_path)
    with tempfile.TemporaryFile() as archive:
        create_file_archive(upload, archive)
        size_bytes = archive.seek(0, os.SEEK_END)
    computed_bytes = listener_bundle.upload_bytes(upload)
    assert size_bytes <= computed_bytes <= size_bytes + 20_480
    assert 2 * computed_bytes < listener_bundle.MAX_BYTES


def test_the_upload_has_every_file_of_the_bundle(tmp_path: Path) -> None:
    """Unpacked beside its `__main__.py`, the archive gives the bundle; its bytes depend on nothing else."""
    packed, upload = listener_bundle.pack(tmp_path), listener_bundle.pack_for_upload(tmp_path)
    unpacked = tmp_path / "unpacked"
    shutil.copytree(upload, unpacked)
    subprocess.run(["tar", "-xzf", listener_bundle.ARCHIVE], cwd=unpacked, check=True)
    (unpacked / listener_bundle.ARCHIVE).unlink()
    assert _contents(unpacked) == _contents(packed)
    again = listener_bundle.pack_for_upload(tmp_path / "elsewhere")
    assert _contents(again) == _contents(upload)


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_bundle_that_dstack_would_refuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Problems that are too large even when they are compressed: the error names the variable."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "tables.py").write_text(f'TABLE = "{secrets.token_hex(3 << 20)}"\n')
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(folder))
    with pytest.raises(
        InfrastructureError, match=r"has [34],\d+,\d+ bytes as an archive; dstack accepts"
    ) as raised:
        listener_bundle.pack_for_upload(tmp_path)
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
