"""Real HIP compilers, in root file systems of the cache that `scripts/rocm-rootfs` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME
from warmfront.settings import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.probe_batches import Batch

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/corpus/rocm"
VERSIONS = ("6.4", "7.2")
SIDES = ("device", "host")
#: A variable of a namespace or a class that is initialized with warpSize.
_GLOBAL_WAVE_SIZE = re.compile(r"^(?!.*\) *\{).*= *warpSize;", re.MULTILINE)
_PROBE = re.compile(r"^//// (?P<name>[\w-]+): (?P<facts>.*)\n(?P<body>(?:(?!////).*\n)*)", re.MULTILINE)


@dataclass(frozen=True)
class Feature:
    """A one-feature probe of the corpus."""

    name: str
    source: str
    versions: frozenset[str]  #: whose compilers accept it
    on_cpu: bool  #: whether the CPU runtime accepts it
    in_xray: bool  #: whether the X-ray accepts it; never what the newest version refuses

    @property
    def in_target(self) -> bool:
        """Whether the newest version accepts it."""
        return VERSIONS[-1] in self.versions


def features() -> list[Feature]:
    """Return the probes of the corpus."""
    return [_feature(**match.groupdict()) for match in _PROBE.finditer((CORPUS / "features.hip").read_text())]


def _feature(name: str, facts: str, body: str) -> Feature:
    accepted, *exceptions = re.split(r" (?=cpu: |xray: )", facts)
    versions = frozenset(accepted.split()) - {"none"}
    answers = {"cpu": VERSIONS[-1] in versions, "xray": VERSIONS[-1] in versions}
    for exception in exceptions:
        where, _, answer = exception.partition(": ")
        answers[where] = answer == "yes"
    return Feature(name, f"#include <hip/hip_runtime.h>\n{body}", versions, answers["cpu"], answers["xray"])


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


#: Mounts the programs and libraries of a root file system over those of this machine, for one process.
_OVER_THIS_MACHINE = 'mount -t overlay overlay -o "lowerdir=$1:/usr" /usr && shift && exec "$@"'


def run_with_rocm(
    version: str, arguments: Sequence[str], *, cache_dir: Path
) -> subprocess.CompletedProcess[str]:
    """Run the command line on a machine that has a ROCm version installed, and no GPU."""
    shell = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _OVER_THIS_MACHINE, "sh"]
    return subprocess.run(
        [*shell, f"{rootfs(version)}/usr", sys.executable, "-m", "warmfront", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "WARMFRONT_CACHE_DIR": str(cache_dir), "WARMFRONT_COMPILE_TIMEOUT": "600"},
    )


class RealCompiler:
    """The hipcc of one ROCm version; every call is a box with the root file system and one folder.

    HIP's header is precompiled for the device and for the host, which makes a check ten times as fast.
    """

    def __init__(self, version: str, folder: Path) -> None:
        self.version = version
        self._folder = folder
        self._lock = threading.Lock()

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

    def link(self, name: str, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """Compile and link a source as the rocm toolchain does, without its trailer."""
        return self._hipcc(name, source, *flags, "-shared", "-O1", "-Wl,-z,defs")

    def check(self, name: str, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """Compile and link a source for the device, and then check it for the host, as `check_side` does."""
        done = self.check_side("device", name, source, *flags)
        return done if done.returncode else self.check_side("host", name, source, *flags)

    def check_side(self, side: str, name: str, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """Compile and link a source for the device, or check it for the host.

        Code is generated for the host only where that can fail: it takes longer.
        """
        action: tuple[str, ...] = ("--no-gpu-bundle-output", "-O1")
        if side == "host":
            action = (
                ("-c", "-O0") if "asm" in source or _GLOBAL_WAVE_SIZE.search(source) else ("-fsyntax-only",)
            )
        loaded = ("-include-pch", str(self._precompiled(side)), "-fno-validate-pch")
        header = [part for flag in loaded for part in ("-Xclang", flag)]
        return self._hipcc(f"{name}-{side}", source, f"--offload-{side}-only", *action, *header, *flags)

    def accepts(self, feature: Feature) -> bool:
        """Return whether the compiler accepts a probe."""
        return self.check(feature.name, feature.source, "-w").returncode == 0

    def accepts_all(self, batch: Batch) -> bool:
        """Return whether the compiler accepts all probes of a batch."""
        return self.check(f"batch-{batch.features[0].name}", batch.source, "-w").returncode == 0

    def refused(self, batch: Batch) -> set[Feature]:
        """Return the probes of a batch that the compiler has errors about; others need their own check."""
        name = f"batch-{batch.features[0].name}"
        flags = ("-w", "-ferror-limit=0")
        outputs = (self.check_side(side, name, batch.source, *flags).stderr for side in SIDES)
        return set().union(*map(batch.mentioned, outputs))

    def _hipcc(self, name: str, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        file = self._folder / f"{name}-{self.version}.cpp"
        file.write_text(f'#line 1 "{SOURCE_NAME}"\n{source}')
        return self.run(["hipcc", *self.flags(*flags), "-x", "hip", str(file), "-o", "/dev/null"])

    def _precompiled(self, side: str) -> Path:
        """Return HIP's header, precompiled for one side; hipcc itself would cut the file short."""
        file = self._folder / f"{side}-{self.version}.pch"
        with self._lock:
            if not file.exists():
                header = file.with_suffix(".h")
                header.write_text("#include <hip/hip_runtime.h>\n")
                flags = " ".join(self.flags(f"--offload-{side}-only", "-O3", "-fsyntax-only", "-x", "hip"))
                command = (
                    f"$(hipconfig --hipclangpath)/clang++ {flags} -Xclang -emit-pch {header} -o - >{file}"
                )
                done = self.run(["sh", "-c", command])
                assert done.returncode == 0, done.stderr
        return file

    @staticmethod
    def flags(*others: str) -> list[str]:
        """Return the flags of the rocm toolchain that decide which constructs are accepted."""
        flags = ["--offload-arch=gfx942", "-std=c++20", "-fPIC", "-DHIP_ENABLE_WARP_SYNC_BUILTINS"]
        return [*flags, "-include", "hip/hip_runtime.h", "-Wno-unused-command-line-argument", *others]
