"""`warmfront xray`: what a GPU's compiler makes of a file, in words.

It reads the file, has it X-rayed and shows the report; what is worth saying is decided elsewhere.
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
    """X-ray a file and print it: 0, 1 if it does not compile, 2 for a bad call, 3 for a bad machine."""
    try:
        source = read_source(file)
        load_view = _no_view if as_json else _load_view
        xray_report = _examine(source, problem, dtype, arch, meanwhile=load_view)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print(json.dumps({"file": file.name, **xray_report.to_dict(isa=isa)}, indent=2))
    else:
        _load_view()(xray_report, source, file.name, isa=isa, stream=sys.stdout)
    return 0 if xray_report.compiles else 1


def _load_view() -> Callable[..., None]:
    """What shows a report to people. Loading it takes as long as half a compilation."""
    from warmfront.cli.xray_view import show  # noqa: PLC0415 - for people only

    return show


def _no_view() -> None:
    """A program wants no view."""


def _examine(
    source: str, slug: str | None, dtype: str | None, arch: str, *, meanwhile: Callable[[], object]
) -> XrayReport:
    configured = settings.load()
    with ThreadPoolExecutor(1) as pool:  # trying out a sandbox is waiting for other processes
        opening = pool.submit(_open_sandbox, configured)
        from warmfront.hip.xray import xray  # noqa: PLC0415 - a bad call needs none of it

        sandbox = opening.result()
    try:
        return xray(
            source,
            arch=arch,
            **_task(slug, dtype),
            sandbox=sandbox,
            settings=configured,
            meanwhile=meanwhile,
        )
    finally:
        sandbox.close()


def _task(slug: str | None, dtype: str | None) -> dict[str, Any]:
    """The problem, where one was named."""
    if slug is None:
        return {}
    from warmfront import problems  # noqa: PLC0415 - NumPy, only for a named problem
    from warmfront.cli.run_local import choose_dtype  # noqa: PLC0415 - as above

    problem = problems.get(slug)
    return {"problem": problem, "dtype": choose_dtype(problem, dtype)}


def _open_sandbox(configured: Settings) -> Sandbox:
    from warmfront.sandbox import open_sandbox  # noqa: PLC0415 - as above

    return open_sandbox(configured.sandbox, base=configured.box_dir, image=configured.docker_image)
