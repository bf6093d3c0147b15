"""What is checked before a submission is stored: its fields against the catalogue, its owner's share.

It refuses with the field, the value and what is allowed. Compiling and judging come later, elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.api.error_responses import InvalidField, InvalidText, QuotaExceeded, quote_value
from warmfront.errors import BadSourceFile, NotAllowed
from warmfront.judge_request import decode_source
from warmfront.money import caps
from warmfront.problems.spec import Dtype
from warmfront.store import usage
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.api.models import SubmitRequest
    from warmfront.errors import BudgetExceeded
    from warmfront.problems.spec import Problem
    from warmfront.settings import Settings

DAY_S = 86_400
_MINUTE_S = 60

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class ProblemCatalogue:
    """The problems of this service, read once, by slug and alias."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        self._by_name = {name: p for p in self.problems for name in (p.slug, *p.aliases)}

    def find(self, name: str) -> Problem | None:
        """The problem with this slug or alias."""
        return self._by_name.get(name)

    def named(self, name: str) -> Problem:
        """The problem that a request's field names."""
        problem = self.find(name)
        if problem is None:
            slugs = ", ".join(p.slug for p in self.problems)
            raise InvalidField("problem", name, slugs, hint="GET /api/amd/problems describes each.")
        return problem


def new_submission(
    service: ServiceContext,
    problems: ProblemCatalogue,
    caller: Caller,
    request: SubmitRequest,
    idempotency_key: str | None,
) -> NewSubmission:
    """The submission that a request asks for, found to make sense."""
    if request.problem_def is not None and not caller.is_operator:
        raise NotAllowed(
            "problem_def is Python that the service would run: it takes an operator's key.",
            hint="Leave it out and name one of GET /api/amd/problems.",
        )
    problem, dtype = _task(problems, request)
    return NewSubmission(
        id=service.new_id("sub"),
        owner=caller.user,
        problem=problem,
        gpu=gpu_of(request.gpu_type or service.settings.default_gpu),
        dtype=dtype,
        language=request.language,
        endpoint=request.endpoint,
        file_name=request.file_name,
        code=source_of("solution_code", request.solution_code),
        created_at=service.clock.now(),
        idempotency_key=_key_of(idempotency_key),
        problem_def=None if request.problem_def is None else source_of("problem_def", request.problem_def),
    )


async def consume_quota(service: ServiceContext, caller: Caller) -> None:
    """Count a submission against its owner's limits; over one of them it is refused, and nothing counted."""
    if refusal := await daily_refusal(service, caller):
        raise refusal
    await service.store.write(_take, caller.user, service.clock.now(), _limits(service.settings))


async def daily_refusal(service: ServiceContext, caller: Caller) -> BudgetExceeded | None:
    """Why this user may spend no more today; None if they may."""
    limits = caps.Limits.of(service.settings)
    if not limits.any:
        return None
    now = service.clock.now()
    return caps.refusal(await service.store.read(caps.today, limits, caller.user, caller.team, now), now)


async def consume_xray_quota(service: ServiceContext, caller: Caller) -> None:
    """Count an X-ray, which costs a core for a moment, against its owner's limit."""
    limit = replace(_limits(service.settings)[0], kind="xray-minute", what="X-rays a minute")
    await service.store.write(_take, caller.user, service.clock.now(), [limit])


@dataclass(frozen=True, kw_only=True)
class _Limit:
    """So many in a window of time."""

    kind: str  #: its name in the store
    window_s: int
    most: int
    what: str
    variable: str  #: where an operator sets it


def _limits(settings: Settings) -> list[_Limit]:
    return [
        _Limit(
            kind="submit-minute",
            window_s=_MINUTE_S,
            most=settings.rate_limit_per_min,
            what="submissions a minute",
            variable="WARMFRONT_RATE_LIMIT",
        ),
        _Limit(
            kind="submit-day",
            window_s=DAY_S,
            most=settings.daily_submissions,
            what="submissions a day",
            variable="WARMFRONT_DAILY_SUBMISSIONS",
        ),
    ]


def _take(c: Connection, user: str, now: float, limits: list[_Limit]) -> None:
    """All counts or none: a refusal undoes the transaction."""
    for limit in limits:
        window_start = now - now % limit.window_s
        if usage.take(c, user, limit.kind, window_start, limit.most) is None:
            wait_s = int(window_start + limit.window_s - now) + 1
            raise QuotaExceeded(
                f"{user} has had the {limit.most:,} {limit.what} that are allowed.",
                retry_after_s=wait_s,
                hint=f"Try again in {wait_s} s; an operator can raise {limit.variable}.",
            )


def source_of(field: str, text: str) -> str:
    """A field's source code as the compiler gets it."""
    try:
        # JSON can escape half a character; it is found not to be UTF-8 like any other bad byte.
        return decode_source(text.encode(errors="surrogatepass"), field)
    except BadSourceFile as error:
        raise InvalidText(field, error.message, hint=error.hint) from None


def gpu_of(name: str) -> str:
    """A GPU that may be asked for."""
    gpu = gpus.by_name(name)
    if gpu is None or not gpu.enabled:
        enabled = ", ".join(each.name for each in gpus.CATALOGUE if each.enabled)
        why = "GET /api/amd/gpus describes each." if gpu is None else f"{name} is known here but not enabled."
        raise InvalidField("gpu_type", name, enabled, hint=why)
    return gpu.name


def dtype_of(problem: Problem, name: str | None) -> Dtype:
    """A dtype of the problem; its first if none is named."""
    if name is None:
        return problem.dtypes[0]
    if name not in {dtype.value for dtype in problem.dtypes}:
        allowed = ", ".join(dtype.value for dtype in problem.dtypes)
        raise InvalidField("dtype", name, f"{allowed} (of {problem.slug})")
    return Dtype(name)


def _task(problems: ProblemCatalogue, request: SubmitRequest) -> tuple[str, str]:
    """Problem and dtype. An operator's own problem is read later, in its sandbox; here it is a name."""
    if request.problem_def is None:
        problem = problems.named(request.problem)
        return problem.slug, dtype_of(problem, request.dtype).value
    if not _SLUG.fullmatch(request.problem):
        raise InvalidField("problem", request.problem, "a name such as my-problem")
    if request.dtype is not None and request.dtype not in {dtype.value for dtype in Dtype}:
        raise InvalidField("dtype", request.dtype, ", ".join(Dtype))
    return request.problem, request.dtype or Dtype.FLOAT32.value


def _key_of(header: str | None) -> str | None:
    if header is not None and not _KEY.fullmatch(header):
        raise InvalidText(
            "Idempotency-Key",
            f"Idempotency-Key is {quote_value(header)}; allowed: 1 to 200 printable ASCII characters.",
            hint="A UUID serves well.",
        )
    return header
