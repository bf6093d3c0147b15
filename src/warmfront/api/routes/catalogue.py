"""The routes of what there is: GPUs, problems, who is fastest; and the X-ray of a source that is not kept."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from warmfront import gpus
from warmfront.api import catalogue_models as models
from warmfront.api import serialization, validation
from warmfront.api.auth import Caller
from warmfront.api.benchmark_summary import Summary, summarise
from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.error_responses import InvalidField, quote_value
from warmfront.api.models import XrayRequest
from warmfront.api.openapi import error_responses_for
from warmfront.errors import NotFound
from warmfront.hip.xray.occupancy import COMPUTE_UNITS
from warmfront.problems.spec import Scale
from warmfront.store import boards, log, submissions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.validation import ProblemCatalogue
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.submission import Submission

router = APIRouter(tags=["catalogue"])

#: A statement's first displayed formula says what is computed.
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)


@router.get("/gpus", responses=error_responses_for())
async def list_gpus(service: ServiceDep) -> models.Gpus:
    """The GPUs that are known here, and which of them may be asked for."""
    settings = service.settings
    return models.Gpus(
        items=[
            models.Gpu(
                name=gpu.name,
                display_name=gpu.display_name(settings.rate_usd_per_h if gpu.enabled else None),
                arch=gpu.arch,
                memory_bytes=gpu.memory_bytes,
                bandwidth_bytes_per_s=gpu.bandwidth_bytes_per_s,
                peak_flops=dict(gpu.peak_flops),
                compute_units=gpu.compute_units,
                rate_usd_per_h=float(settings.rate_usd_per_h) if gpu.enabled else None,
                enabled=gpu.enabled,
                default=gpu.name == settings.default_gpu,
            )
            for gpu in gpus.CATALOGUE
        ]
    )


@router.get("/problems", responses=error_responses_for())
async def list_problems(service: ServiceDep, problems: ProblemsDep, caller: CallerDep) -> models.Problems:
    """What can be solved, and how well it has been so far."""
    solved = await service.store.read(boards.solved, caller.user)
    return models.Problems(
        items=[models.ProblemSummary(**_summary(each, solved.get(each.slug))) for each in problems.problems]
    )


@router.get("/problems/{slug}", responses=error_responses_for(404, 422))
async def get_problem(
    slug: str, service: ServiceDep, problems: ProblemsDep, caller: CallerDep
) -> models.ProblemDetail:
    """One problem: what is asked, the signature for each dtype, and code to begin with."""
    problem = _named(problems, slug)
    solved = await service.store.read(boards.solved, caller.user)
    return models.ProblemDetail(
        **_summary(problem, solved.get(problem.slug)),
        statement=problem.statement.strip(),
        declarations={dtype.value: problem.declaration(dtype) for dtype in problem.dtypes},
        starters={dtype.value: problem.starter(dtype) for dtype in problem.dtypes},
        cases={scale.value: [case.name for case in problem.cases(scale)] for scale in Scale},
    )


@router.get("/leaderboard/{slug}", responses=error_responses_for(404, 422))
async def leaderboard(
    slug: str, service: ServiceDep, problems: ProblemsDep, caller: CallerDep
) -> models.Leaderboard:
    """The best accepted submission of each user on each GPU."""
    problem = _named(problems, slug)
    best = await service.store.read(_best_with_verdicts, problem.slug)
    return models.Leaderboard(
        problem=problem.slug,
        items=_ranked([each for each in best if not each[0].simulated], caller),
        simulated=_ranked([each for each in best if each[0].simulated], caller),
    )


@router.post("/xray", responses=error_responses_for(400, 413, 415, 422, 429))
async def xray(
    body: XrayRequest, service: ServiceDep, problems: ProblemsDep, caller: CallerDep
) -> dict[str, Any]:
    """What the compiler of the real target makes of a source. Nothing is run, stored or billed."""
    source = validation.source_of("solution_code", body.solution_code)
    if body.arch not in COMPUTE_UNITS:
        raise InvalidField("arch", body.arch, ", ".join(COMPUTE_UNITS))
    problem, dtype = _task(problems, body)
    await validation.consume_xray_quota(service, caller)
    report = await service.xray(source, arch=body.arch, problem=problem, dtype=dtype)
    return report.to_dict(isa=body.isa)


def _summary(problem: Problem, solved: boards.Solved | None) -> dict[str, Any]:
    solved = solved or boards.Solved()
    formula = _FORMULA.search(problem.statement)
    return {
        **problem.summary(),
        "formula": formula[1].strip() if formula else None,
        "solutions": solved.solutions,
        "solved": solved.by_user,
        "best_times": [
            models.BestTime(gpu_type=gpu, simulated=simulated, runtime_ms=best_ms)
            for (gpu, simulated), best_ms in solved.best_ms.items()
        ],
    }


def _task(problems: ProblemCatalogue, body: XrayRequest) -> tuple[Problem | None, Dtype | None]:
    if body.problem is None:
        return None, None
    problem = problems.named(body.problem)
    return problem, validation.dtype_of(problem, body.dtype)


def _named(problems: ProblemCatalogue, slug: str) -> Problem:
    problem = problems.find(slug)
    if problem is None:
        raise NotFound(
            f"There is no problem called {quote_value(slug)}.",
            hint="GET /api/amd/problems lists what there is.",
        )
    return problem


def _best_with_verdicts(c: Connection, slug: str) -> list[tuple[Submission, Summary]]:
    """The best, each with what its timed cases say together."""
    found = []
    for record in submissions.best(c, slug):
        last = log.after(c, record.id, record.last_event_id - 1, 1)
        found.append((record, summarise(last[0].fields.get("benchmark_results", []) if last else [])))
    return found


def _ranked(best: list[tuple[Submission, Summary]], caller: Caller) -> list[models.Best]:
    """In the order of the store: by GPU, the fastest first; ranks begin anew with each GPU."""
    ranks: Counter[str] = Counter()
    ranks_of = []
    for record, _ in best:
        ranks[record.gpu] += 1
        ranks_of.append(ranks[record.gpu])
    return [
        models.Best(
            rank=rank,
            user=record.owner,
            gpu_type=record.gpu,
            dtype=record.dtype,
            avg_runtime_ms=record.avg_runtime_ms or 0.0,
            ci=summary.ci,
            avg_gflops=record.avg_gflops,
            pct_of_floor=summary.pct_of_floor,
            submission_id=record.id if caller.is_operator or record.owner == caller.user else None,
            finished_at=serialization.iso_or_none(record.finished_at),
        )
        for rank, (record, summary) in zip(ranks_of, best, strict=True)
    ]
