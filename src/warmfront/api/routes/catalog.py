"""GPUs, problems, leaderboards, and X-rays that are not stored."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response

from warmfront import gpus
from warmfront.api import serialization
from warmfront.api.auth import Caller
from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.disconnects import ClientDisconnected, run_while_connected
from warmfront.api.error_responses import InvalidField, quote_value
from warmfront.api.leaderboard_ranking import RankedSubmission, mean_pct_of_floor, rank_submissions
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes.teams import require_member
from warmfront.api.validation import scale_of_checks, validate_dtype, validate_source
from warmfront.errors import NotFound
from warmfront.hip.xray.occupancy import COMPUTE_UNITS
from warmfront.problems.ranges import DimensionIn, Numbers, Shapes, Sizes
from warmfront.problems.spec import Dtype, Scale
from warmfront.roles import Role
from warmfront.store.records import ProblemStatistics
from warmfront.usage_limits import xray_quotas
from warmfront.wire.catalog import (
    BestTime,
    CaseParameter,
    GpuListResponse,
    GpuResponse,
    LeaderboardEntry,
    LeaderboardResponse,
    ProblemDetailResponse,
    ProblemListResponse,
    ProblemResponse,
)
from warmfront.wire.xray import XrayReportResponse, XrayRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.api.validation import ProblemCatalog
    from warmfront.problems.spec import Problem
    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission

router = APIRouter(tags=["catalog"])

#: nginx's status for a client that disconnected; it appears only in the access log.
_CLIENT_CLOSED_REQUEST = 499

#: The first displayed formula of a statement, which summarizes the problem.
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)


@router.get("/gpus", responses=error_responses_for())
async def list_gpus(service: ServiceDep) -> GpuListResponse:
    """List the known GPU types, and whether submissions may request them."""
    settings = service.settings
    rates = {name: settings.gpu_rate_usd_per_h(name) for name in settings.gpu_types}
    return GpuListResponse(
        items=[
            GpuResponse(
                **dict(serialization.gpu_roofs(gpu)),
                display_name=gpu.display_name(rates.get(gpu.name)),
                arch=gpu.arch,
                memory_bytes=gpu.memory_bytes,
                compute_units=gpu.compute_units,
                rate_usd_per_h=float(rates[gpu.name]) if gpu.name in rates else None,
                enabled=gpu.name in rates,
                default=gpu.name == settings.default_gpu,
            )
            for gpu in gpus.CATALOG
        ]
    )


@router.get("/problems", responses=error_responses_for())
async def list_problems(service: ServiceDep, problems: ProblemsDep, caller: CallerDep) -> ProblemListResponse:
    """List the problems with their best times."""
    solved = await service.store.problem_statistics(caller.user)
    return ProblemListResponse(
        items=[
            ProblemResponse(**_problem_fields(problem, solved.get(problem.slug)))
            for problem in problems.problems
        ]
    )


@router.get("/problems/{slug}", responses=error_responses_for(404, 422))
async def get_problem(
    slug: str, service: ServiceDep, problems: ProblemsDep, caller: CallerDep
) -> ProblemDetailResponse:
    """Return one problem with its statement, and the signature and starter code for each dtype."""
    problem = _find_problem(problems, slug)
    solved = await service.store.problem_statistics(caller.user)
    scale = scale_of_checks(service)
    return ProblemDetailResponse(
        **_problem_fields(problem, solved.get(problem.slug)),
        statement=problem.statement.strip(),
        declarations={dtype: problem.declaration(dtype) for dtype in problem.dtypes},
        starters={dtype: problem.starter(dtype) for dtype in problem.dtypes},
        cases={scale.value: [case.name for case in problem.cases(scale)] for scale in Scale},
        scale=scale.value,
        case_parameters=list(_case_parameters(problem, scale)),
        styles={dtype: _styles(problem, dtype, scale) for dtype in problem.dtypes},
    )


def _styles(problem: Problem, dtype: Dtype, scale: Scale) -> list[str]:
    """Return the styles of the smallest published case, which has the most."""
    smallest = problem.cases(scale)[0]
    return list(problem.styles(smallest, dtype)) or [smallest.draw]


def _case_parameters(problem: Problem, scale: Scale) -> Iterator[CaseParameter]:
    """Yield the parameters of an author's own case; a number of dimensions follows from the shape."""
    for name, bounds in problem.ranges(scale).items():
        if isinstance(bounds, Sizes):
            yield CaseParameter(name=name, kind="size", low=bounds.low, high=bounds.high, step=bounds.step)
        elif isinstance(bounds, Numbers):
            yield CaseParameter(name=name, kind="number", low=bounds.low, high=bounds.high)
        elif isinstance(bounds, Shapes):
            yield CaseParameter(name=name, kind="shape", low=None, high=bounds.max_elements)
        elif isinstance(bounds, DimensionIn):
            yield CaseParameter(name=name, kind="dimension", low=None, high=None, shape=bounds.shape)


@router.get("/leaderboard/{slug}", responses=error_responses_for(404, 422))
async def get_leaderboard(
    slug: str,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    team: Annotated[str | None, Query(max_length=64, description="Only the members of this team.")] = None,
) -> LeaderboardResponse:
    """Return the best accepted submission of each user on each GPU. Overlapping intervals share a rank.

    With `team`, it is the private leaderboard of a team, for its members and operators.
    """
    problem = _find_problem(problems, slug)
    accepted = await service.store.leaderboard(problem.slug)
    if team is not None:
        await require_member(service, caller, team)
        members = set(await service.store.teams.members(team))
        accepted = [entry for entry in accepted if entry[0].owner in members]
    return LeaderboardResponse(
        problem=problem.slug,
        items=_entries([entry for entry in accepted if not entry[0].simulated], caller),
        simulated=_entries([entry for entry in accepted if entry[0].simulated], caller),
    )


@router.post("/xray", response_model=XrayReportResponse, responses=error_responses_for(413, 415, 422, 429))
async def xray(
    body: XrayRequest, service: ServiceDep, problems: ProblemsDep, caller: CallerDep, request: Request
) -> Response:
    """Compile a source for a GPU and report on its kernels. Nothing is run, stored or billed.

    X-rays are queued fairly between users. An X-ray is cancelled if its client disconnects.
    """
    caller.require(Role.AUTHOR, "Making an X-ray")
    source, problem, dtype = validate_xray(problems, body)
    await service.store.consume_quota(caller.user, service.clock.now(), xray_quotas(service.settings))
    make_report = partial(service.xray, source, arch=body.arch, problem=problem, dtype=dtype)
    try:
        report = await run_while_connected(
            request.receive, service.orchestrator.run_xray(caller.user, make_report)
        )
    except ClientDisconnected:
        return Response(status_code=_CLIENT_CLOSED_REQUEST)
    return JSONResponse(report.to_dict(isa=body.isa))


def _problem_fields(problem: Problem, solved: ProblemStatistics | None) -> dict[str, Any]:
    solved = solved or ProblemStatistics()
    formula = _FORMULA.search(problem.statement)
    return {
        **problem.summary(),
        "formula": formula[1].strip() if formula else None,
        "solutions": solved.solutions,
        "solved": solved.solved_by_user,
        "best_times": [
            BestTime(
                gpu_type=gpu, simulated=simulated, runtime_ms=best.runtime_ms, ci=best.ci, noisy=best.noisy
            )
            for (gpu, simulated), best in solved.best.items()
        ],
    }


def validate_xray(problems: ProblemCatalog, body: XrayRequest) -> tuple[str, Problem | None, Dtype | None]:
    """Return the source, the problem and the dtype of an X-ray; raise a `UsageError` if one is invalid."""
    source = validate_source("solution_code", body.solution_code)
    if body.arch not in COMPUTE_UNITS:
        raise InvalidField("arch", body.arch, ", ".join(COMPUTE_UNITS))
    return source, *_validate_problem(problems, body)


def _validate_problem(problems: ProblemCatalog, body: XrayRequest) -> tuple[Problem | None, Dtype | None]:
    if body.problem is None:
        return None, None
    problem = problems.require(body.problem)
    return problem, validate_dtype(problem, body.dtype)


def _find_problem(problems: ProblemCatalog, slug: str) -> Problem:
    problem = problems.find(slug)
    if problem is None:
        raise NotFound(
            f"There is no problem {quote_value(slug)}.", hint="GET /api/amd/problems lists the problems."
        )
    return problem


def _entries(accepted: list[tuple[Submission, StoredEvent | None]], caller: Caller) -> list[LeaderboardEntry]:
    """Rank the submissions of each GPU."""
    verdicts = {submission.id: verdict for submission, verdict in accepted}
    by_gpu: dict[str, list[Submission]] = {}
    for submission, _ in accepted:
        by_gpu.setdefault(submission.gpu, []).append(submission)
    return [
        _entry(ranked, verdicts[ranked.submission.id], caller)
        for submissions in by_gpu.values()
        for ranked in rank_submissions(submissions)
    ]


def _entry(ranked: RankedSubmission, verdict: StoredEvent | None, caller: Caller) -> LeaderboardEntry:
    submission = ranked.submission
    timings = [] if verdict is None else verdict.fields.get("benchmark_results", [])
    return LeaderboardEntry(
        rank=ranked.rank,
        tied=ranked.tied,
        user=submission.owner,
        gpu_type=submission.gpu,
        dtype=Dtype(submission.dtype),
        avg_runtime_ms=submission.avg_runtime_ms or 0.0,
        ci=submission.avg_ci,
        noisy=submission.noisy,
        avg_gflops=submission.avg_gflops,
        pct_of_floor=mean_pct_of_floor(timings),
        submission_id=submission.id if caller.may_see(submission.owner) else None,
        finished_at=submission.finished_at,
    )
