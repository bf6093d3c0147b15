"""The image of pretend VMs: Debian with g++, Python and the listener's packages, and an empty ROCm.

Its root file system is kept in the cache. The packages come from the mirror that this machine's apt uses, the
Python packages from the listener's own lock file.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from warmfront.settings import default_cache_dir

ROOT = Path(__file__).parents[3]
LOCK = ROOT / "src" / "warmfront" / "listener" / "requirements.txt"
SUITE, PYTHON = "bookworm", "3.11"
PACKAGES = "g++,python3"
#: Increase it with every change of `_build`.
LAYOUT = 1
#: The version that the empty ROCm of the image states.
ROCM = "7.2.1-81"


def root_file_system() -> Path:
    """Return the root file system of the image; it is created once, in about two minutes."""
    ready = default_cache_dir() / f"pretend-vm-{_digest()}"
    ready.parent.mkdir(parents=True, exist_ok=True)
    with ready.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.is_dir():
            draft = Path(tempfile.mkdtemp(prefix=ready.name, dir=ready.parent))
            try:
                _build(draft)
                draft.rename(ready)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    return ready


def load_image(url: str, name: str) -> None:
    """Import the root file system into a Docker daemon under this name."""
    command = ["tar", "-C", str(root_file_system()), "-c", "."]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as archive:
        subprocess.run(
            ["docker", "--host", url, "import", "-", name],
            stdin=archive.stdout,
            stdout=subprocess.DEVNULL,
            check=True,
        )


def _digest() -> str:
    parts = (LAYOUT, SUITE, PYTHON, PACKAGES, ROCM, LOCK.read_text())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _build(root: Path) -> None:
    root.chmod(0o755)
    _run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(root), _mirror())
    for folder in ("var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/locale"):
        shutil.rmtree(root / folder, ignore_errors=True)
    packages = root / "usr/lib/python3/dist-packages"
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lock:
        lock.write(_lock_for_its_python())
        lock.flush()
        _run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"),
            *("--only-binary", ":all:", "--python-version", PYTHON, "--platform", "manylinux_2_28_x86_64"),
            *("--platform", "manylinux2014_x86_64", "--target", str(packages), "--requirement", lock.name),
        )
    _write(root / "opt/rocm/.info/version", f"{ROCM}\n")
    (root / "opt/rocm/bin").mkdir()
    ours = root / "opt/warmfront-image"
    _write(ours / "requirements.txt", LOCK.read_text())
    (ours / "cache").mkdir()
    (ours / "venv/bin").mkdir(parents=True)
    (ours / "venv/bin/python3").symlink_to("/usr/bin/python3")


def _lock_for_its_python() -> str:
    """Return the lock file without packages for other systems: pip evaluates markers for its own."""
    text = LOCK.read_text()
    others = r"^[\w.-]+==\S+ ; (?:python_full_version >= '3.12'|sys_platform == 'win32') \\\n(?:    .*\n)+"
    return re.sub(r" ; python_full_version < '3.12'", "", re.sub(others, "", text, flags=re.MULTILINE))


def _mirror() -> str:
    """Return the first mirror of apt that serves Debian itself."""
    listed = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return str(re.findall(r"^Debian\|Debian\|(.+)$", listed, re.MULTILINE)[0])


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
