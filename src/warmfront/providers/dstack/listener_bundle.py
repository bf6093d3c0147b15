"""The listener bundle: the part of this package that judges, in a folder that dstack uploads to the VM.

The listener therefore always has the control plane's version, whatever image it runs in, and knows the
operator's own problems. The bundle contains no secret and no setting.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import warmfront
from warmfront.errors import InfrastructureError
from warmfront.problems import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The packages that the listener imports. All top-level modules go along: they are small, and which of them
#: these packages import changes often.
_PACKAGES = ("hip", "judge", "listener", "problems", "sandbox")
#: The parts of those packages that only the control plane uses.
_EXCLUDED = ("hip/xray", "listener/client.py")
#: dstack's limit for one entry of a task's `files`, as a tar archive.
MAX_BYTES = 2 << 20
#: Headers and data in a tar archive are multiples of this; the archive is a multiple of its record.
_TAR_BLOCK_BYTES, _TAR_RECORD_BYTES = 512, 10240
#: Blocks before the data of a file: its header, and that of the fraction of a second of its time, with data.
_TAR_HEADER_BLOCKS = 3

#: The bundle's name on the VM, relative to the directory in which a task's commands run. Python can execute
#: a directory that has a `__main__.py`.
FOLDER = "warmfront-listener"
LISTENER = ("python3", FOLDER)

#: Subdirectory with the operator's own problems.
_PROBLEMS = "problems"

#: Where an image has the bundle that it was built with, named after its files.
IMAGE_FOLDER = "/opt/warmfront-image"

#: If the image has the same bundle, that one is used: its bytecode exists already. Otherwise it is the copy
#: that the VM's host has too, if there is one: boxes see only what the image or the host has.
_START = f"""\
import os, runpy, sys

here = sys.path[0] = os.path.abspath(sys.path[0])
for place in os.environ.get("WARMFRONT_LISTENER_DIR", here), os.path.join("{IMAGE_FOLDER}", "NAME"):
    if os.path.isdir(place):
        sys.path[0] = place
if os.path.isdir(os.path.join(here, "{_PROBLEMS}")):
    os.environ["{registry.DIRECTORIES_VARIABLE}"] = os.path.join(here, "{_PROBLEMS}")
runpy.run_module("warmfront.listener", run_name="__main__", alter_sys=True)
"""
_PACKAGE = Path(warmfront.__file__).parent


def pack(cache_dir: Path, *, with_problems: bool = True) -> Path:
    """Return the bundle for the sources as they are now; it is built once per state of the sources.

    Args:
        cache_dir: Where bundles are kept.
        with_problems: Whether to add the operator's own problems.

    Raises:
        InfrastructureError: The bundle is larger than dstack accepts.
    """
    files = dict(sorted(_files()))
    files = files if with_problems else _without_problems(files)
    size_bytes = archive_bytes(files)
    if size_bytes > MAX_BYTES:
        raise InfrastructureError(
            f"The listener bundle has {size_bytes:,} bytes as an archive; dstack accepts {MAX_BYTES:,}.",
            hint=f"Move large files out of the directories of {registry.DIRECTORIES_VARIABLE}.",
        )
    packed = cache_dir / _name(files)
    if not packed.is_dir():
        _copy(files, packed)
    return packed


def archive_bytes(files: Mapping[str, Path]) -> int:
    """Return the size of a tar archive of these files, by their paths inside, and of their folders."""
    folders = {parent for inside in files for parent in Path(FOLDER, inside).parents}
    entries = [0] * len(folders) + [len(_START)] + [path.stat().st_size for path in files.values()]
    blocks = sum(_TAR_HEADER_BLOCKS - (-size // _TAR_BLOCK_BYTES) for size in entries) + 2
    return -(-blocks * _TAR_BLOCK_BYTES // _TAR_RECORD_BYTES) * _TAR_RECORD_BYTES


def _files() -> Iterator[tuple[str, Path]]:
    """Yield the path inside the bundle and the source path of each file."""
    for path in _PACKAGE.glob("*.py"):
        if path.name != "__main__.py":
            yield f"warmfront/{path.name}", path
    for package in _PACKAGES:
        for path in (_PACKAGE / package).rglob("*"):
            inside = path.relative_to(_PACKAGE).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not inside.startswith(_EXCLUDED):
                yield f"warmfront/{inside}", path
    for path in registry.operator_files():
        yield f"{_PROBLEMS}/{path.name}", path


def _without_problems(files: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that an image has, which knows no problems of an operator."""
    return {inside: path for inside, path in files.items() if not inside.startswith(f"{_PROBLEMS}/")}


def _name(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256(_START.encode())
    for inside, path in files.items():
        data = path.read_bytes()
        digest.update(f"{inside} {len(data)}\n".encode() + data)
    return f"listener-{digest.hexdigest()[:16]}"


def _copy(files: Mapping[str, Path], packed: Path) -> None:
    """Build the bundle atomically: two processes may do it at the same time."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".listener-", dir=packed.parent))
    try:
        for inside, path in files.items():
            target = draft / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        (draft / "__main__.py").write_text(_START.replace("NAME", _name(_without_problems(files))))
        draft.chmod(0o755)
        draft.rename(packed)
    except OSError:
        if not packed.is_dir():  # another process built it first
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
