"""The listener bundle: a folder with the part of this package that judges, which dstack uploads to the VM.

So the listener always has the control plane's version, whatever image it runs in, and the operator's own
problems. The bundle contains no secrets and no settings.

dstack limits the size of a task's files, and does not compress them. So the files are uploaded as one
compressed archive, which `prepare.sh` unpacks on the VM.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import warmfront
from warmfront.errors import InfrastructureError
from warmfront.problems import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: The packages that the listener imports. All top-level modules are included too: they are small, and which
#: of them are imported changes often.
_PACKAGES = ("hip", "judge", "listener", "problems", "sandbox")
#: The parts of those packages that only the control plane uses.
_EXCLUDED = ("hip/xray", "listener/client.py")
#: dstack's limit for one entry of a task's `files`, as a tar archive.
MAX_BYTES = 2 << 20
#: The overhead of a tar archive: headers, and padding to the end of its record.
_TAR_OVERHEAD_BYTES = 20 << 10

#: The bundle's name on the VM, relative to the directory in which a task's commands run. Python can execute
#: a directory that has a `__main__.py`.
FOLDER = "warmfront-listener"
LISTENER = ("python3", FOLDER)

#: The compressed archive of everything but `__main__.py`; `prepare.sh` unpacks it.
ARCHIVE = "package.tar.gz"

#: Subdirectory with the operator's own problems.
_PROBLEMS = "problems"

#: Where an image contains the bundle that it was built with, named after its files.
IMAGE_FOLDER = "/opt/warmfront-image"

#: If the image contains the same bundle, that one is used, because its bytecode already exists. Otherwise the
#: copy on the VM's host is used, if there is one: boxes can only access files of the image or the host.
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
    """Return the bundle for the current sources, and build it if they have changed.

    Args:
        cache_dir: The directory for bundles.
        with_problems: Whether to add the operator's own problems.
    """
    files = dict(sorted(_files()))
    files = files if with_problems else _without_problems(files)
    packed = cache_dir / _name(files)
    if not packed.is_dir():
        _build(packed, lambda draft: _copy(files, draft))
    return packed


def pack_for_upload(cache_dir: Path) -> Path:
    """Return the bundle for upload: the listener's start file, and the rest as a compressed archive.

    Raises:
        InfrastructureError: The bundle is larger than dstack accepts.
    """
    packed = pack(cache_dir)
    upload = packed.with_name(f"{packed.name}-upload")
    if not upload.is_dir():
        _build(upload, lambda draft: _compress(packed, draft))
    size_bytes = upload_bytes(upload)
    if size_bytes > MAX_BYTES:
        raise InfrastructureError(
            f"The listener bundle has {size_bytes:,} bytes as an archive; dstack accepts {MAX_BYTES:,}.",
            hint=f"Move large files out of the directories of {registry.DIRECTORIES_VARIABLE}.",
        )
    return upload


def upload_bytes(upload: Path) -> int:
    """Return the maximum size of dstack's archive of the upload."""
    return sum(path.stat().st_size for path in upload.iterdir()) + _TAR_OVERHEAD_BYTES


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
    """Return the files for an image, which has no operator's problems."""
    return {inside: path for inside, path in files.items() if not inside.startswith(f"{_PROBLEMS}/")}


def _name(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256(_START.encode())
    for inside, path in files.items():
        data = path.read_bytes()
        digest.update(f"{inside} {len(data)}\n".encode() + data)
    return f"listener-{digest.hexdigest()[:16]}"


def _copy(files: Mapping[str, Path], draft: Path) -> None:
    for inside, path in files.items():
        target = draft / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    (draft / "__main__.py").write_text(_START.replace("NAME", _name(_without_problems(files))))


def _compress(packed: Path, draft: Path) -> None:
    """Write the upload. The same bundle gives the same bytes, so dstack uploads it only once."""
    shutil.copyfile(packed / "__main__.py", draft / "__main__.py")
    with (
        (draft / ARCHIVE).open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for path in sorted(packed.rglob("*")):
            if path.is_file() and path != packed / "__main__.py":
                archive.add(path, arcname=path.relative_to(packed).as_posix(), filter=_anonymous)


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return the entry without time and owner."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


def _build(packed: Path, fill: Callable[[Path], None]) -> None:
    """Build a folder atomically, because two processes may build it at the same time."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".listener-", dir=packed.parent))
    try:
        fill(draft)
        draft.chmod(0o755)
        draft.rename(packed)
    except OSError:
        if not packed.is_dir():  # another process built it first
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
