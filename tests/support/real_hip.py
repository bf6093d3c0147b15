"""Real HIP compilers, in root file systems of the cache that `scripts/rocm-rootfs` makes."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME
from warmfront.settings import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus/rocm"
VERSIONS = ("6.4", "7.2")
_PROBE = re.compile(r"^//// (?P<name>[\w-]+): (?P<facts>.*)\n(?P<body>(?:(?!////).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Feature:
    """A one-feature probe of the corpus."""

    name: str
    source: str
    versions: frozenset[str]  #: whose compilers accept it
    on_cpu: bool  #: whether the CPU runtime accepts it

    @property
    def in_target(self) -> bool:
        """Whether the newest version accepts it."""
        return VERSIONS[-1] in self.versions


def features() -> list[Feature]:
    """Return the probes of the corpus."""
    return [_feature(**match.groupdict()) for match in _PROBE.finditer((CORPUS / "features.hip").read_text())]


def _feature(name: str, facts: str, body: str) -> Feature:
    accepted, _, cpu = facts.partition(" cpu: ")
    versions = frozenset(accepted.split()) - {"none"}
    on_cpu = cpu == "yes" if cpu else VERSIONS[-1] in versions
    return Feature(name, f"#include <hip/hip_runtime.h>\n{body}", versions, on_cpu)


@dataclass(frozen=True)
class BrokenKernel:
    """A kernel with one mistake; a comment `//@ text` marks its line and the text at its column."""

    name: str
    source: str
    line: int
    text: str


def broken_kernels() -> list[BrokenKernel]:
    """Return the broken kernels of the corpus."""
    kernels = []
    for path in sorted((CORPUS / "broken").glob("*.hip")):
        source = path.read_text()
        line, text = next(
            (number, line.split("//@ ")[1])
            for number, line in enumerate(source.split("\n"), 1)
            if "//@ " in line
        )
        kernels.append(BrokenKernel(path.stem, source, line, text))
    return kernels


def rootfs(version: str) -> Path:
    """Return the root file system with the compiler of a ROCm version."""
    return default_cache_dir() / f"rocm-{version}"


def headers(version: str) -> Path:
    """Return the folder with the HIP headers of a ROCm version, unpacked and not installed."""
    return default_cache_dir() / "rocm-headers" / version / "include"


class RealCompiler:
    """The hipcc of one ROCm version; every call is a box with the root file system and one folder."""

    def __init__(self, version: str, folder: Path) -> None:
        self.version = version
        self._folder = folder

    def run(self, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a program of the root file system, with our sources and the folder at their own paths."""
        mounts = [part for path in (ROOT, self._folder) for part in ("--bind", str(path), str(path))]
        system = rootfs(self.version)
        box = ["bwrap", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - in the box
        box += [
            part for name in ("usr", "etc", "var") for part in ("--ro-bind", f"{system}/{name}", f"/{name}")
        ]
        box += [part for name in ("bin", "lib", "lib64") for part in ("--symlink", f"usr/{name}", f"/{name}")]
        box += [*mounts, "--unshare-net", "--"]
        return subprocess.run([*box, *argv], capture_output=True, text=True, check=False)

    def compile(self, name: str, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """Compile and link a source as the rocm toolchain does, without its trailer."""
        file = self._folder / f"{name}.cpp"
        file.write_text(f'#line 1 "{SOURCE_NAME}"\n{source}')
        return self.run(["hipcc", *self.flags(*flags), "-x", "hip", str(file), "-o", "/dev/null"])

    def check(self, name: str, source: str) -> subprocess.CompletedProcess[str]:
        """Compile a source for host and device, without generating code."""
        return self.compile(name, source, "-fsyntax-only", "-w")

    @staticmethod
    def flags(*others: str) -> list[str]:
        """Return the flags of the rocm toolchain that decide what is accepted."""
        flags = ["--offload-arch=gfx942", "-std=c++20", "-fPIC", "-DHIP_ENABLE_WARP_SYNC_BUILTINS"]
        return [*flags, "-include", "hip/hip_runtime.h", "-Wno-unused-command-line-argument", *others]
