"""A toolchain with separate device memory, as on a GPU, whose programs can be replaced by broken ones.

The harness for GPUs runs on the CPU runtime. Boxes of the CPU runtime cannot share a folder, so tests use it
without isolation.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.sandbox import TRUSTED, open_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox, Template
    from warmfront.settings import Settings

#: Answers every command like a program whose device does not work.
BROKEN_PROGRAM = """
import struct, sys
with open(sys.argv[1] + "/commands", "rb") as commands, open(sys.argv[1] + "/answers", "wb") as answers:
    while header := commands.read(16):
        _, size, nonce = struct.unpack("<IIQ", header)
        commands.read(size)
        error = b"hipGetDeviceCount: hipErrorNoDevice"
        answers.write(struct.pack("<IIQ", 3, len(error), nonce) + error)
        answers.flush()
"""


class DeviceToolchain(CpuToolchain):
    """The CPU toolchain with separate device memory, as on a GPU; some of its programs do not work.

    Attributes:
        guests: one argv for each run box that is taken; None for a guest that works.
        harnesses: the same for the boxes of the harness. The last one is repeated.
    """

    shared_memory = False
    folder: Path
    guests: list[tuple[str, ...] | None]
    harnesses: list[tuple[str, ...] | None]

    def run_template(self, settings: Settings) -> Template:
        """Return the next guest's box."""
        return self._next(super().run_template(settings), self.guests)

    def harness_template(self, settings: Settings) -> Template:
        """Return the next harness's box."""
        return self._next(super().harness_template(settings), self.harnesses)

    def _next(self, template: Template, programs: list[tuple[str, ...] | None]) -> Template:
        argv = programs.pop(0) if len(programs) > 1 else programs[0]
        template = replace(template, env={**template.env, "HIPCPU_IPC_DIR": str(self.folder)})
        if argv is None:
            return template
        return replace(template, argv=(*argv, template.argv[1]))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Create a folder outside /tmp, because each box without isolation has its own /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as path:
        yield Path(path)


@pytest.fixture
def trusted_sandbox() -> Iterator[Sandbox]:
    """Open the sandbox without isolation."""
    sandbox = open_sandbox(TRUSTED)
    yield sandbox
    sandbox.close()


@pytest.fixture
def broken(folder: Path) -> tuple[str, ...]:
    """Return the command of a program whose device does not work."""
    program = folder / "broken.py"
    program.write_text(BROKEN_PROGRAM)
    return (sys.executable, str(program))
