"""Build and run the HIP programs of the corpus with the CPU runtime."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.hip import cpu
from warmfront.hip.builtins import GFX942
from warmfront.hip.cpu.host_compiler import HostCompiler
from warmfront.hip.cpu.unaligned import unaligned_access_flags
from warmfront.hip.headers import copy_headers
from warmfront.hip.source.rewrite import rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAMS = Path(__file__).parents[1] / "corpus" / "programs"


class Programs:
    """Compiles each program of the corpus once, and runs it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._host_compiler = HostCompiler(name="g++", command="g++", identity="")
        self._objects = self._build_runtime()
        self._built: dict[str, Path] = {}

    def build(self, name: str, arch: str = GFX942) -> Path:
        """Return the executable of `tests/corpus/programs/NAME.hip`."""
        if name not in self._built:
            self._built[name] = self._link(name, arch)
        return self._built[name]

    def run(
        self, name: str, *args: str, arch: str = GFX942, env: Mapping[str, str] = cpu.RUN_ENV
    ) -> subprocess.CompletedProcess[str]:
        """Run a program. Only a program that hangs reaches the timeout of a minute."""
        return subprocess.run(
            [self.build(name, arch), *args],
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
            env=dict(env),
        )

    def fault(self, name: str, *args: str, arch: str = GFX942) -> dict[str, Any]:
        """Run a program that must fault, and return its fault report with the exit code."""
        result = self.run(name, *args, arch=arch)
        lines = result.stderr.splitlines()
        assert lines, f"no fault was reported; exit code {result.returncode}, output {result.stdout!r}"
        return {**json.loads(lines[-1]), "exit_code": result.returncode}

    def compile(
        self, text: str, *, flags: Sequence[str] = (), output: str = "/dev/null", arch: str = GFX942
    ) -> subprocess.CompletedProcess[str]:
        """Compile HIP source to an object file."""
        translation = rewrite(text, arch)
        return subprocess.run(
            [*self._compiler(), *flags, "-x", "c++", "-c", "-", "-o", output],
            input=f"{translation.includes}#line 1\n{translation.text}",
            capture_output=True,
            text=True,
            check=False,
        )

    def _link(self, name: str, arch: str) -> Path:
        built = self._folder / name
        text = f'#line 1 "{name}.hip"\n' + (PROGRAMS / f"{name}.hip").read_text()
        compiled = self.compile(text, flags=cpu.WHOLE_FLAGS, output=f"{built}.o", arch=arch)
        assert compiled.returncode == 0, compiled.stderr
        subprocess.run(
            ["g++", "-rdynamic", f"{built}.o", *self._objects, "-pthread", "-o", built], check=True
        )
        return built

    def _compiler(self) -> list[str]:
        header = ("-include", "hip/hip_runtime.h")
        return [
            "g++",
            *cpu.SUBMISSION_FLAGS,
            *cpu.GCC_FLAGS,
            *unaligned_access_flags(self._host_compiler, self._folder),
            "-I",
            str(self._folder / "include"),
            "-I",
            str(PROGRAMS),
            *header,
        ]

    def _build_runtime(self) -> list[Path]:
        include = self._folder / "include"
        copy_headers(cpu.INCLUDE, include)
        objects = [self._folder / f"{source.stem}.o" for source in cpu.RUNTIME_SOURCES]
        commands = [
            ["g++", *cpu.RUNTIME_FLAGS, "-I", include, "-c", source, "-o", built]
            for source, built in zip(cpu.RUNTIME_SOURCES, objects, strict=True)
        ]
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda command: subprocess.run(command, check=True), commands))
        return objects


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """Return the programs of the corpus, compiled on first use."""
    return Programs(tmp_path_factory.mktemp("programs"))
