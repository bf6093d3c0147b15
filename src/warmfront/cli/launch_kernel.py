"""`warmfront launch`: run a kernel without a problem, on this machine or on the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.cli.event_views import show_error
from warmfront.cli.launch_arguments import LaunchOptions, as_usage_error, declare_launch
from warmfront.cli.run_local import RunOptions, run
from warmfront.cli.submit_and_follow import SubmitOptions, submit
from warmfront.errors import InvalidLaunch, WarmfrontError
from warmfront.hip.scratch import SLUG, ScratchProblem, compose_source, validate_launch
from warmfront.judge_request import JudgeRequest, read_source
from warmfront.problems.spec import Dtype
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.hip.scratch import Launch


def launch_here(
    file: Path, options: LaunchOptions, *, bugs: bool, sandbox: str | None, seed: int | None, as_json: bool
) -> int:
    """Launch a kernel on the CPU of this machine, show its buffers, and return the verdict's exit code."""
    try:
        source, _, launch = _read(file, options)
    except WarmfrontError as error:
        return show_error(error, as_json=as_json)
    request = JudgeRequest(
        source=compose_source(source, launch),
        problem=ScratchProblem(launch),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
        file_name=file.name,
        seed=seed,
    )
    run_options = RunOptions(
        file=file,
        problem=SLUG,
        endpoint=Endpoint.CHECKER.value,
        dtype=None,
        toolchain="cpu",
        sandbox=sandbox,
        seed=seed,
        trust=False,
        bugs=bugs,
        heading=_heading(file, launch),
    )
    return run(run_options, as_json=as_json, request=request)


def launch_on_server(
    file: Path, options: LaunchOptions, *, gpu_type: str | None, detach: bool, as_json: bool
) -> int:
    """Submit a launch to the server, follow it, and return the verdict's exit code."""
    try:
        _, declared, launch = _read(file, options)
    except WarmfrontError as error:
        return show_error(error, as_json=as_json)
    submission = SubmitOptions(
        file=file,
        problem=SLUG,
        endpoint=Endpoint.CHECKER.value,
        dtype=None,
        gpu_type=gpu_type,
        launch=declared,
        heading=_heading(file, launch),
    )
    return submit(submission, detach=detach, as_json=as_json)


def _read(file: Path, options: LaunchOptions) -> tuple[str, dict[str, Any], Launch]:
    """Return the source, and its launch as a JSON object and as a checked launch."""
    source = read_source(file)
    declared = declare_launch(options, source)
    try:
        return source, declared, validate_launch(declared, source)
    except InvalidLaunch as error:
        raise as_usage_error(error, declared, source) from None


def _heading(file: Path, launch: Launch) -> str:
    grid, block = ("x".join(map(str, size)) for size in (launch.grid, launch.block))
    return f"{file.name}: {launch.kernel}, grid {grid}, block {block}"
