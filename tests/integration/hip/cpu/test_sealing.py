"""Sealing device memory inside every sandbox, whether or not its filter allows a program to add one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.boxes import MIB, SandboxHarness, harness
from warmfront.hip import cpu
from warmfront.sandbox.base import Mount, Template

if TYPE_CHECKING:
    from tests.support.programs import Programs

__all__ = ["harness"]  # a fixture: pytest finds it by name

pytestmark = pytest.mark.compiler

INSIDE = "/program"


def test_device_memory_is_protected_in_a_box(harness: SandboxHarness, programs: Programs) -> None:
    """The hooks seal device memory or say why not; kernels can access it either way, and host code cannot."""
    built = programs.build("core_faults")
    built.parent.chmod(0o755)
    template = Template(
        name="test",
        argv=(f"{INSIDE}/{built.name}", "sealing_is_optional"),
        mounts=(Mount(host=built.parent, inside=INSIDE),),
        limits=harness.template((), memory_bytes=4096 * MIB).limits,
        env=cpu.RUN_ENV,
    )
    end = harness.run(template)
    assert json.loads(end.output)["fault"] == "host-access-to-device-memory"
