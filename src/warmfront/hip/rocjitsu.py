"""The optional device `rocjitsu`: AMD's emulator runs the real code of a GPU on the CPU.

rocjitsu, which `mirage` manages, has been part of ROCm since 2026. Its library is preloaded into a HIP
program and replaces the kernel driver, so hipcc, the HIP runtime and the code object are the real ones. It is
slow, so the cases have CPU sizes, and results are `simulated`.

Facts from its sources, release 10: the library is `librocjitsu.so` (before: `librocjitsu_kmd.so`); it reads
the path of its configuration from the file `config_path` in ROCJITSU_INVOCATION_DIR or ROCJITSU_RUNTIME_DIR
(before: from RJ_CONFIG, with RJ_SCHEMA); configurations are in `share/rocjitsu/configs`.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import NoToolchain
from warmfront.hip import cache
from warmfront.hip.rocm import RocmToolchain
from warmfront.problems.spec import Scale
from warmfront.sandbox.base import SCRATCH, Mount
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.gpus import Gpu
    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

LIBRARIES = ("librocjitsu.so", "librocjitsu_kmd.so")
LIBRARY_FOLDERS = ("lib", "lib64", ".")
PROGRAMS = ("rocjitsu", "mirage")
CONFIGS = Path("share/rocjitsu/configs")
SCHEMA = Path("share/rocjitsu/schemas/simulation_config.fbs")
#: The names of an architecture's configurations, the first that exists: those of one GPU with the emulated
#: kernel driver come first.
CONFIG_PATTERNS = {
    "gfx90a": ("gfx90a*_kmd.json", "gfx90a*.json"),
    "gfx942": ("gfx942*_kmd.json", "amdgpu_cdna3_kmd.json", "gfx942*.json", "amdgpu_cdna3.json"),
    "gfx950": ("gfx950*_kmd.json", "amdgpu_cdna4_kmd.json", "gfx950*.json", "amdgpu_cdna4.json"),
}


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """An installation of rocjitsu."""

    prefix: Path
    library: Path  #: to be preloaded
    config: Path  #: the emulated GPU


class RocjitsuToolchain(RocmToolchain):
    """The toolchain that compiles with hipcc and runs on the emulator instead of a GPU. See `Toolchain`."""

    name = "rocjitsu"
    simulated = True
    scale = Scale.CPU
    flush_bytes = 0  # the emulator's caches have no effect on its speed
    warm_up_s = 0.0

    def __init__(self, cache_dir: Path, emulator: Emulator, gpu: Gpu = gpus.MI300X) -> None:
        super().__init__(cache_dir, gpu)
        self.emulator = emulator

    def run_template(self, settings: Settings) -> Template:
        """Return the box that runs the guest on the emulator; no device file is passed."""
        template = super().run_template(settings)
        prefix, handoff = self.emulator.prefix, self._handoff()
        mounts = [mount for mount in template.mounts if mount.host != prefix]
        mounts += [Mount(host=path, inside=str(path)) for path in (prefix, handoff)]
        if not self.emulator.config.is_relative_to(prefix):
            mounts.append(Mount(host=self.emulator.config, inside=str(self.emulator.config)))
        env = {
            **template.env,
            "LD_PRELOAD": str(self.emulator.library),
            "ROCJITSU_INVOCATION_DIR": str(handoff),
            "ROCJITSU_RUNTIME_DIR": str(handoff),
            "RJ_CONFIG": str(self.emulator.config),
            "RJ_SCHEMA": str(prefix / SCHEMA),
            "HSA_ENABLE_SDMA": "1",
            "TMPDIR": SCRATCH,
        }
        return replace(template, env=env, mounts=tuple(mounts), devices=())

    def _handoff(self) -> Path:
        """Return a folder with the file in which the emulator looks for the path of its configuration."""

        def build(into: Path) -> None:
            (into / "config_path").write_text(f"{self.emulator.config}\n")

        key = f"rocjitsu-{cache.digest([str(self.emulator.config)])}"
        return cache.get_or_build(self._cache_dir, key, build)


def find_emulator(settings: Settings, arch: str = gpus.MI300X.arch) -> Emulator:
    """Return the emulator in WARMFRONT_ROCJITSU, on PATH or in /opt/rocm.

    Raises:
        NoToolchain: it is not installed, or has no configuration for the architecture.
    """
    prefixes = list(_prefixes(settings.rocjitsu))
    for prefix in prefixes:
        for folder in LIBRARY_FOLDERS:
            for name in LIBRARIES:
                library = prefix / folder / name
                if library.is_file():
                    config = settings.rocjitsu_config or _config(prefix, arch)
                    return Emulator(prefix=prefix, library=library.resolve(), config=config)
    searched = ", ".join(map(str, prefixes)) or "PATH and /opt/rocm"
    raise NoToolchain(
        f"The emulator rocjitsu was not found: no {LIBRARIES[0]} in {searched}.",
        hint="Install rocjitsu and set WARMFRONT_ROCJITSU to its directory, or unset WARMFRONT_DEVICE.",
    )


def _prefixes(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    for program in PROGRAMS:
        if found := shutil.which(program):
            yield Path(found).resolve().parent.parent
    if Path("/opt/rocm").is_dir():
        yield Path("/opt/rocm").resolve()


def _config(prefix: Path, arch: str) -> Path:
    for pattern in CONFIG_PATTERNS.get(arch, ()):
        if found := sorted((prefix / CONFIGS).glob(pattern), key=lambda path: (len(path.name), path.name)):
            return found[0]
    raise NoToolchain(
        f"rocjitsu in {prefix} has no configuration for {arch} in {CONFIGS}.",
        hint="Set WARMFRONT_ROCJITSU_CONFIG to a configuration file of one GPU.",
    )
