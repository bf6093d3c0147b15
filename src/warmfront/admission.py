"""The X-ray before a run: what the real target makes of a source, as an event.

It never decides a verdict, and a machine that cannot make one says so in the notes.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.events import Xray
from warmfront.hip.trailer import SOURCE_NAME

if TYPE_CHECKING:
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

ARCH = "gfx942"


def examine(
    source: str,
    *,
    file_name: str,
    problem: Problem | None,
    dtype: Dtype | None,
    sandbox: Sandbox,
    settings: Settings,
) -> Xray:
    """The X-ray of a source; `file_name` is what its author calls it."""
    try:
        from warmfront.hip.xray import xray  # noqa: PLC0415 - loaded while the sandbox starts

        report = xray(source, arch=ARCH, problem=problem, dtype=dtype, sandbox=sandbox, settings=settings)
    except WarmfrontError as error:
        return not_made(f"{error.message} {error.hint or ''}")
    except Exception as error:  # no verdict waits for an X-ray, and none is lost to one
        log.exception("the X-ray failed")
        return not_made(f"The X-ray failed: {type(error).__name__}: {error}")
    data = report.to_dict()
    message = report.failure.message if report.failure else ""
    return Xray(
        arch=report.arch,
        gpu=report.gpu,
        compiler=report.compiler,
        # A header that only this machine's compilers lack says nothing about the target.
        compiles=None if report.failure and report.failure.code == "NO_HEADER" else report.compiles,
        kernels=data["kernels"],
        findings=data["findings"],
        message=message.replace(f"{SOURCE_NAME}:", f"{file_name}:"),
        notes=list(report.notes),
        seconds=data["seconds"],
    )


def not_made(reason: str) -> Xray:
    """The event where there is no X-ray: it says why, and nothing of the source."""
    return Xray(arch=ARCH, gpu="", compiler="", compiles=None, kernels=[], findings=[], notes=[reason])
