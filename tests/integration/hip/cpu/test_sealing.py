"""Device memory can be sealed inside every sandbox: its filter allows a program to install one of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.boxes import MIB, SandboxHarness, harness
from warmfront.hip import cpu
from warmfront.sandbox.base import ExitReason, Mount, Template

if TYPE_CHECKING:
    from tests.support.programs import Programs

__all__ = ["harness"]  # a fixture: pytest finds it by name

pytestmark = pytest.mark.compiler

INSIDE = "/program"


def test_device_memory_is_sealed_in_a_box(harness: SandboxHarness, programs: Programs) -> None:
    """Host code in a box cannot open device memory, and cannot make memory executable."""
    built = programs.build("core_faults")
    built.parent.chmod(0o755)
    # Limited address space leaves no room for the arena.
    has_arena = harness.kind != "bubblewrap-rlimits"
    for case in ("sealed_code", *(["sealed_memory_cannot_be_opened"] if has_arena else [])):
        template = Template(
            name="test",
            argv=(f"{INSIDE}/{built.name}", case),
            mounts=(Mount(host=built.parent, inside=INSIDE),),
            limits=harness.template((), memory_bytes=512 * MIB).limits,
            env=cpu.RUN_ENV,
        )
        end = harness.run(template)
        assert (end.reason, end.code, end.output) == (ExitReason.EXITED, 0, b"")
