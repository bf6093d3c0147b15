"""`warmfront xray`: compile a file for a GPU without a GPU, and print the report.

As in `run_local`, modules are imported while the sandbox is probed and while the compiler runs.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from warmfront import settings
from warmfront.cli.error_report import report
from warmfront.errors import WarmfrontError
from warmfront.judge_request import read_source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warmfront.hip.xray import XrayReport
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


def print_xray(
    file: Path,
    *,
    problem: str | None,
    arch: str,
    isa: bool,
    as_json: bool,
    dtype: str | None = None,
) -> int:
    """X-ray a file, print the report and return the exit code.

    The exit code is 0, or 1 if the file does not compile, 2 for a usage error, 3 for an infrastructure error.
    """
    try:
        source = read_source(file)
        preload = (lambda: None) if as_json else _load_view
        xray_report = _xray(source, problem, dtype, arch, meanwhile=preload)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print(json.dumps({"file": file.name, **xray_report.to_dict(isa=isa)}, indent=2))
    else:
        _load_view()(xray_report, source, file.name, isa=isa, stream=sys.stdout)
    return 0 if xray_report.compiles else 1


def _load_view() -> Callable[..., None]:
    """Import and return the function that prints a report; importing takes half as long as compiling."""
    from warmfront.cli.xray_view import show

    return show


def _xray(
    source: str, slug: str | None, dtype: str | None, arch: str, *, meanwhile: Callable[[], object]
) -> XrayReport:
    configured = settings.load()
    with ThreadPoolExecutor(1) as pool:
        opening = pool.submit(_open_sandbox, configured)
        from warmfront.hip.xray import xray

        sandbox = opening.result()
    try:
        return xray(
            source,
            arch=arch,
            **_problem_arguments(slug, dtype),
            sandbox=sandbox,
            settings=configured,
            meanwhile=meanwhile,
        )
    finally:
        sandbox.close()


def _problem_arguments(slug: str | None, dtype: str | None) -> dict[str, Any]:
    if slug is None:
        return {}
    from warmfront import problems
    from warmfront.cli.arguments import parse_dtype

    problem = problems.get(slug)
    return {"problem": problem, "dtype": parse_dtype(dtype, problem)}


def _open_sandbox(configured: Settings) -> Sandbox:
    from warmfront.sandbox import open_sandbox

    return open_sandbox(configured.sandbox, base=configured.box_dir, image=configured.docker_image)
