"""What goes to a VM: the part of this package that judges, as it is here, in a folder that dstack uploads.

So the listener is always of the control plane's own version, whatever image it runs in, and knows the
operator's own problems. No secret, no setting and nothing of the control plane goes along.
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

#: The rooms that the listener imports, and the modules beside them.
_ROOMS = ("hip", "judge", "listener", "problems", "sandbox")
_MODULES = ("__init__", "errors", "events", "gpus", "logs", "settings", "submissions", "values", "vms")
#: Of those rooms, what only the control plane uses.
_LEFT_OUT = ("hip/xray", "listener/client.py")
#: What dstack takes as one entry of a task's `files`, packed.
MOST_BYTES = 2 << 20

#: Its name on the VM, below the folder in which a task's commands run; Python starts a folder by its name.
FOLDER = "warmfront-listener"
LISTENER = ("python3", FOLDER)

#: Below it, the files of the operator's own problems.
_PROBLEMS = "problems"

_START = f"""\
import os, runpy, sys

here = sys.path[0] = os.path.abspath(sys.path[0])
if os.path.isdir(os.path.join(here, "{_PROBLEMS}")):
    os.environ["{registry.DIRECTORIES_VARIABLE}"] = os.path.join(here, "{_PROBLEMS}")
runpy.run_module("warmfront.listener", run_name="__main__", alter_sys=True)
"""
_PACKAGE = Path(warmfront.__file__).parent


def pack(cache_dir: Path) -> Path:
    """The folder that goes; made once for each state of the sources."""
    files = {inside: path for path, inside in sorted(_files(), key=lambda each: each[1])}
    size = sum(path.stat().st_size for path in files.values())
    if size > MOST_BYTES:
        raise InfrastructureError(f"The listener's part is {size:,} bytes; dstack takes {MOST_BYTES:,}.")
    packed = cache_dir / f"listener-{_digest(files)}"
    if not packed.is_dir():
        _copy(files, packed)
    return packed


def _files() -> Iterator[tuple[Path, str]]:
    """Each file, and its place in the folder."""
    for name in _MODULES:
        yield _PACKAGE / f"{name}.py", f"warmfront/{name}.py"
    for room in _ROOMS:
        for path in (_PACKAGE / room).rglob("*"):
            inside = path.relative_to(_PACKAGE).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and not inside.startswith(_LEFT_OUT):
                yield path, f"warmfront/{inside}"
    for path in registry.operator_files():
        yield path, f"{_PROBLEMS}/{path.name}"


def _digest(files: Mapping[str, Path]) -> str:
    state = hashlib.sha256(_START.encode())
    for inside, path in files.items():
        data = path.read_bytes()
        state.update(f"{inside} {len(data)}\n".encode() + data)
    return state.hexdigest()[:16]


def _copy(files: Mapping[str, Path], packed: Path) -> None:
    """It appears whole or not at all, also when two processes make it at once."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".listener-", dir=packed.parent))
    try:
        for inside, path in files.items():
            target = draft / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        (draft / "__main__.py").write_text(_START)
        draft.chmod(0o755)
        draft.rename(packed)
    except OSError:
        if not packed.is_dir():  # else another process was faster
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
