"""Substitutes for the base images of VMs, made from Debian's packages: the real ones need the internet.

`rocm` has a real HIP compiler and runtime, moved to where AMD's image has them; `ubuntu` has the packages
that the Dockerfile would install. Both are root file systems that are kept in the cache.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from warmfront.settings import default_cache_dir

ROOT = Path(__file__).parents[2]
ROCM, UBUNTU = "substitute-rocm:7.2.4", "substitute-ubuntu:24.04"
PACKAGES = "binutils g++ libdrm-amdgpu1 libdrm2 libelf1t64 libnuma1 openssh-server python3 python3-venv"
#: Moves Debian's files to AMD's layout.
_MOVE = r"""
set -eu
to=/opt/rocm-7.2.4
libraries=/usr/lib/x86_64-linux-gnu
mkdir -p $to/bin $to/lib $to/include $to/share
cp -a /usr/bin/hipcc $to/bin/hipcc.bin
cp -a /usr/bin/hipconfig $to/bin/
printf '#!/bin/sh\nHIP_CLANG_PATH=/opt/rocm/lib/llvm/bin exec /opt/rocm/bin/hipcc.bin "$@"\n' >$to/bin/hipcc
chmod 755 $to/bin/hipcc
cp -a /usr/lib/llvm-22 $to/lib/llvm
cp -aL --remove-destination $libraries/libLLVM*.so.22* $libraries/libclang-cpp.so.22* $to/lib/llvm/lib/
ln -s clang++ $to/lib/llvm/bin/amdclang++
ln -s ../lib/llvm/bin/amdclang++ $to/bin/amdclang++
ln -s lib/llvm $to/llvm
cp -a /usr/include/hip $to/include/
cp -a /usr/share/hip $to/share/
cp -a $libraries/libamdhip64.so* $libraries/libamd_comgr.so* $libraries/libhsa-runtime64.so* $to/lib/
libc='libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|ld-linux-x86-64'
packages='libnuma|libelf|libdrm|libdrm_amdgpu'
for library in $(ldd $to/lib/libamdhip64.so $to/lib/llvm/bin/clang $to/lib/llvm/bin/lld \
    | sed -n 's/^.* => \(\/.*\) (.*$/\1/p' | grep -v -E "/($libc|$packages)\.so"); do
  name=$(basename $library)
  [ -e "$to/lib/$name" ] || [ -e "$to/lib/llvm/lib/$name" ] || cp -aL $library $to/lib/
done
ln -s rocm-7.2.4 /opt/rocm
"""


def load(url: str) -> None:
    """Import both substitutes into a Docker daemon."""
    rootfs = subprocess.run(
        [ROOT / "scripts" / "rocm-rootfs", "7.2"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    _import(url, Path(rootfs), "substitute-rootfs:1")
    with tempfile.TemporaryDirectory() as context:
        Path(context, "move").write_text(_MOVE)
        Path(context, "Dockerfile").write_text("FROM substitute-rootfs:1\nCOPY move /\nRUN sh /move\n")
        subprocess.run(["docker", "--host", url, "build", "--quiet", "--tag", ROCM, context], check=True)
    _import(url, ubuntu_rootfs(Path(rootfs)), UBUNTU)


def ubuntu_rootfs(rocm: Path) -> Path:
    """Return a root file system with the packages of the Dockerfile; it is created once."""
    ready = default_cache_dir() / "vm-base"
    if not ready.is_dir():
        mirror = re.findall(r"(https?://\S+)", (rocm / "etc/apt/sources.list").read_text())[0]
        draft = ready.with_name("vm-base.draft")
        subprocess.run(["rm", "-rf", str(draft)], check=True)
        options = f"--variant=minbase --include={PACKAGES.replace(' ', ',')}".split()
        script = "/usr/share/debootstrap/scripts/sid"
        subprocess.run(
            ["debootstrap", *options, "sid", str(draft), mirror, script], stdout=sys.stderr, check=True
        )
        subprocess.run(["chroot", str(draft), "apt-get", "clean"], check=True)
        draft.rename(ready)
    return ready


def python_wheels(folder: Path, requirements: Path) -> Path:
    """Download the packages of a lock file for the substitute's Python, with their hashes checked."""
    python = ubuntu_rootfs(Path()) / "usr" / "bin" / "python3"
    version = python.resolve().name.removeprefix("python")
    # pip evaluates markers for its own version of Python: leave out what is for older ones.
    older = r"^[\w-]+==\S+ ; python_full_version < '3.12'.*\n(?:    .*\n)+"
    text = re.sub(older, "", requirements.read_text(), flags=re.MULTILINE)
    text = re.sub(r" ; python_full_version [<>=]+ '3.12'", "", text)
    folder.mkdir()
    (folder.parent / "requirements.txt").write_text(text)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"),
            *("--only-binary", ":all:", "--python-version", version),
            *("--dest", str(folder), "--requirement", str(folder.parent / "requirements.txt")),
        ],
        check=True,
    )
    return folder


def _import(url: str, rootfs: Path, name: str) -> None:
    with subprocess.Popen(
        ["tar", "--one-file-system", "-C", str(rootfs), "-c", "."], stdout=subprocess.PIPE
    ) as archive:
        subprocess.run(
            ["docker", "--host", url, "import", "-", name],
            stdin=archive.stdout,
            stdout=subprocess.DEVNULL,
            check=True,
        )
