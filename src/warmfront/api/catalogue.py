"""The routes of what there is: GPUs, problems, who is fastest; and the X-ray of a source that is not kept."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter

from warmfront import gpus
from warmfront.api import admission, views
from warmfront.api import catalogue_models as models
from warmfront.api.auth import Caller, Who
from warmfront.api.failures import BadField, shown
from warmfront.api.models import XrayRequest
from warmfront.api.openapi import refusals
from warmfront.api.parts import Known, Parts
from warmfront.api.summary import Summary, summarise
from warmfront.errors import NotFound
from warmfront.hip.xray.occupancy import COMPUTE_UNITS
from warmfront.problems.spec import Scale
from warmfront.store import boards, log, submissions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.api.admission import Names
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.submission import Submission

router = APIRouter(tags=["catalogue"])

#: A statement's first displayed formula says what is computed.
_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)


@router.get("/gpus", responses=refusals())
async def all_gpus(parts: Parts) -> models.Gpus:
    """The GPUs that are known here, and which of them may be asked for."""
    settings = parts.settings
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


@router.get("/problems", responses=refusals())
async def all_problems(parts: Parts, names: Known, caller: Who) -> models.Problems:
    """What can be solved, and how well it has been so far."""
    solved = await parts.store.read(boards.solved, caller.user)
    return models.Problems(
        items=[models.ProblemSummary(**_summary(each, solved.get(each.slug))) for each in names.problems]
    )


@router.get("/problems/{slug}", responses=refusals(404, 422))
async def one_problem(slug: str, parts: Parts, names: Known, caller: Who) -> models.ProblemDetail:
    """One problem: what is asked, the signature for each dtype, and code to begin with."""
    problem = _named(names, slug)
    solved = await parts.store.read(boards.solved, caller.user)
    return models.ProblemDetail(
        **_summary(problem, solved.get(problem.slug)),
        statement=problem.statement.strip(),
        declarations={dtype.value: problem.declaration(dtype) for dtype in problem.dtypes},
        starters={dtype.value: problem.starter(dtype) for dtype in problem.dtypes},
        cases={scale.value: [case.name for case in problem.cases(scale)] for scale in Scale},
    )


@router.get("/leaderboard/{slug}", responses=refusals(404, 422))
async def leaderboard(slug: str, parts: Parts, names: Known, caller: Who) -> models.Leaderboard:
    """The best accepted submission of each user on each GPU."""
    problem = _named(names, slug)
    best = await parts.store.read(_best_with_verdicts, problem.slug)
    return models.Leaderboard(
        problem=problem.slug,
        items=_ranked([each for each in best if not each[0].simulated], caller),
        simulated=_ranked([each for each in best if each[0].simulated], caller),
    )


@router.post("/xray", responses=refusals(400, 413, 415, 422, 429))
async def xray(body: XrayRequest, parts: Parts, names: Known, caller: Who) -> dict[str, Any]:
    """What the compiler of the real target makes of a source. Nothing is run, stored or billed."""
    source = admission.source_of("solution_code", body.solution_code)
    if body.arch not in COMPUTE_UNITS:
        raise BadField("arch", body.arch, ", ".join(COMPUTE_UNITS))
    problem, dtype = _task(names, body)
    await admission.take_xray(parts, caller)
    report = await parts.xray(source, arch=body.arch, problem=problem, dtype=dtype)
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


def _task(names: Names, body: XrayRequest) -> tuple[Problem | None, Dtype | None]:
    if body.problem is None:
        return None, None
    problem = names.named(body.problem)
    return problem, admission.dtype_of(problem, body.dtype)


def _named(names: Names, slug: str) -> Problem:
    problem = names.find(slug)
    if problem is None:
        raise NotFound(
            f"There is no problem called {shown(slug)}.", hint="GET /api/amd/problems lists what there is."
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
            finished_at=views.iso_or_none(record.finished_at),
        )
        for rank, (record, summary) in zip(ranks_of, best, strict=True)
    ]
