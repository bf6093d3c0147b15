"""Tests of hipIpc* on the CPU runtime: two processes share device memory, and invalid handles are refused."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.hip import cpu
from warmfront.hip.cpu import ipc_handle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

PROGRAM = "core_ipc"


@contextmanager
def exporter(
    programs: Programs, folder: Path, size_bytes: int
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a process that exports memory; yield it with its handle, in hexadecimal."""
    argv = [str(programs.build(PROGRAM)), "export", str(folder), str(size_bytes)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=cpu.RUN_ENV
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()


def importing(programs: Programs, folder: Path, handle: str, case: str = "plain") -> str:
    """Open the handle in a second process and return its output."""
    result = programs.run(PROGRAM, "import", str(folder), handle, case)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


def fault(programs: Programs, folder: Path, size_bytes: int, case: str) -> dict[str, Any]:
    """Return the fault of a process that opens a handle of this size, written by `encode_handle`."""
    (folder / "shared").write_bytes(bytes(ipc_handle.mapped_bytes(size_bytes)))
    handle = ipc_handle.encode_handle("shared", offset=0, size_bytes=size_bytes).hex()
    return programs.fault(PROGRAM, "import", str(folder), handle, case)


@pytest.mark.parametrize("size_bytes", [1, 4096, 100_001])
def test_two_processes_share_memory(programs: Programs, tmp_path: Path, size_bytes: int) -> None:
    """The first process reads what the second writes; its file is deleted once it frees the memory."""
    with exporter(programs, tmp_path, size_bytes) as (process, handle):
        assert importing(programs, tmp_path, handle) == "closed"
        output, _ = process.communicate("\n", timeout=600)
    assert (process.returncode, output) == (0, "42 42\n")
    assert list(tmp_path.iterdir()) == []


def test_the_judge_writes_a_handle(programs: Programs, tmp_path: Path) -> None:
    """A range of a file is opened by a handle that Python wrote, and only its own bytes change."""
    size_bytes, offset = 1000, 8192
    file = tmp_path / "data"
    file.write_bytes(bytes(offset + ipc_handle.mapped_bytes(size_bytes) + ipc_handle.PAGE_BYTES))
    handle = ipc_handle.encode_handle("data", offset=offset, size_bytes=size_bytes)
    assert importing(programs, tmp_path, handle.hex()) == "closed"
    begin = offset + ipc_handle.first_byte(size_bytes)
    content = file.read_bytes()
    assert content[begin : begin + size_bytes] == b"\1" * size_bytes
    assert content.count(1) == size_bytes


def test_access_past_the_end(programs: Programs, tmp_path: Path) -> None:
    """Opened memory ends at a guard page, and the fault names the buffer."""
    report = fault(programs, tmp_path, 8000, "beyond")
    assert (report["fault"], report["kernel"]) == ("memory-fault", "add_one")
    assert "0 bytes past the end of a 8000-byte hipMalloc buffer" in report["detail"]


def test_access_by_the_host(programs: Programs, tmp_path: Path) -> None:
    """Opened memory is protected like memory from hipMalloc."""
    report = fault(programs, tmp_path, 8000, "host")
    assert report["fault"] == "host-access-to-device-memory"


def test_access_after_close(programs: Programs, tmp_path: Path) -> None:
    """Closed memory is inaccessible, and the fault says so."""
    report = fault(programs, tmp_path, 8000, "closed")
    assert "that has been freed" in report["detail"]


def handle_of(**changes: Any) -> str:
    """Return a handle for the file `shared` with some of its bytes replaced."""
    handle = bytearray(ipc_handle.encode_handle("shared", offset=0, size_bytes=4096))
    for position, value in changes.items():
        at = int(position.removeprefix("at"))
        handle[at : at + len(value)] = value
    return handle.hex()


WRONG = {
    "magic": (handle_of(at0=b"XXXX"), "hipErrorInvalidHandle"),
    "no name": (handle_of(at4=b"\0"), "hipErrorInvalidHandle"),
    "long name": (handle_of(at4=b"\x28"), "hipErrorInvalidHandle"),
    "path": (handle_of(at24=b"../sha"), "hipErrorInvalidHandle"),
    "parent": (handle_of(at4=b"\2", at24=b".."), "hipErrorInvalidHandle"),
    "offset": (handle_of(at8=b"\1"), "hipErrorInvalidHandle"),
    "beyond the file": (handle_of(at9=b"\x10"), "hipErrorMapFailed"),
    "empty": (handle_of(at16=b"\0\0"), "hipErrorInvalidHandle"),
    "larger than the file": (handle_of(at16=b"\1\x10"), "hipErrorMapFailed"),
    "huge": (handle_of(at16=b"\xff" * 8), "hipErrorMapFailed"),
    "no such file": (handle_of(at24=b"shares"), "hipErrorMapFailed"),
    "symbolic link": (handle_of(at24=b"linked"), "hipErrorMapFailed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_handle(programs: Programs, tmp_path: Path, name: str) -> None:
    """A handle that names no range of a file in the folder is refused."""
    handle, error = WRONG[name]
    (tmp_path / "shared").write_bytes(bytes(4096))
    (tmp_path / "linked").symlink_to(tmp_path / "shared")
    assert importing(programs, tmp_path, handle) == error


@pytest.mark.parametrize(
    ("name", "offset", "size_bytes", "message"),
    [
        ("", 0, 1, "name"),
        ("a/b", 0, 1, "name"),
        ("x" * 40, 0, 1, "name"),
        ("x", 1, 1, "offset"),
        ("x", 0, 0, "size"),
    ],
)
def test_a_handle_that_cannot_be_encoded(name: str, offset: int, size_bytes: int, message: str) -> None:
    """A value that no handle can have is an error that names it."""
    with pytest.raises(ValueError, match=message):
        ipc_handle.encode_handle(name, offset=offset, size_bytes=size_bytes)
