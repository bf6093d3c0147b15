"""Builds the XRAY event of a submission from the X-ray of its source.

The event never decides a verdict. If there is no X-ray, its notes say why.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.events import Xray
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray import analysis

if TYPE_CHECKING:
    from warmfront.gpus import Gpu
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


def xray_event(
    source: str,
    *,
    file_name: str,
    gpu: Gpu,
    problem: Problem | None,
    dtype: Dtype | None,
    sandbox: Sandbox,
    settings: Settings,
) -> Xray:
    """X-ray a source for a GPU and return the event; its messages call the file `file_name`."""
    try:
        report = analysis.xray(
            source, arch=gpu.arch, gpu=gpu, problem=problem, dtype=dtype, sandbox=sandbox, settings=settings
        )
    except WarmfrontError as error:
        return no_xray_event(f"{error.message} {error.hint or ''}".rstrip(), gpu)
    except Exception as error:  # a failed X-ray must not cost the submission its verdict
        log.exception("X-ray failed; continuing without it")
        return no_xray_event(f"The X-ray failed: {type(error).__name__}: {error}", gpu)
    data = report.to_dict()
    message = report.failure.message if report.failure else ""
    return Xray(
        arch=report.arch,
        gpu=report.gpu,
        compiler=report.compiler,
        # A header that only the X-ray lacks says nothing about the target.
        compiles=None if report.failure and report.failure.code == "NO_HEADER" else report.compiles,
        kernels=data["kernels"],
        findings=data["findings"],
        message=message.replace(f"{SOURCE_NAME}:", f"{file_name}:"),
        notes=list(report.notes),
        seconds=data["seconds"],
    )


def no_xray_event(reason: str, gpu: Gpu) -> Xray:
    """Return the event for a submission without an X-ray; its only content is the reason."""
    return Xray(arch=gpu.arch, gpu="", compiler="", compiles=None, kernels=[], findings=[], notes=[reason])
