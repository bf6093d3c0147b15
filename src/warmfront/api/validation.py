"""Validate the fields of a request against the catalog of problems and GPUs, before anything is stored."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.api.error_responses import InvalidField, InvalidText, quote_value
from warmfront.errors import BadSourceFile
from warmfront.hip.scratch import SLUG, validate_launch
from warmfront.judge_request import decode_source
from warmfront.problems.own_cases import to_json, validate_own_cases
from warmfront.problems.spec import Dtype, Scale
from warmfront.roles import Role
from warmfront.submission import NewSubmission
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.problems.spec import Problem
    from warmfront.settings import Settings
    from warmfront.wire.submissions import SubmitRequest

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class ProblemCatalog:
    """The problems of this service by slug and alias, loaded once."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = list(problems)
        self._by_name = {
            name: problem for problem in self.problems for name in (problem.slug, *problem.aliases)
        }

    def find(self, name: str) -> Problem | None:
        """Return the problem with this slug or alias."""
        return self._by_name.get(name)

    def require(self, name: str) -> Problem:
        """Return the problem with the name in a request's `problem` field, or raise `InvalidField`."""
        problem = self.find(name)
        if problem is None:
            slugs = ", ".join(problem.slug for problem in self.problems)
            raise InvalidField("problem", name, slugs, hint="GET /api/amd/problems describes the problems.")
        return problem


def validate_submission(
    service: ServiceContext,
    problems: ProblemCatalog,
    caller: Caller,
    request: SubmitRequest,
    idempotency_key: str | None,
) -> NewSubmission:
    """Return the submission that a request describes; raise a `UsageError` if it is invalid."""
    if request.problem_def is not None:  # the service runs it as Python
        caller.require(
            Role.OPERATOR, "problem_def", hint="Omit it, and name a problem of GET /api/amd/problems."
        )
    problem, dtype = _validate_problem(problems, request)
    own_cases = _validate_own_cases(service, problems, request, dtype)
    if request.all_cases and request.endpoint is not Endpoint.CHECKER:
        raise InvalidField(
            "endpoint",
            request.endpoint.value,
            "checker, because the request has all_cases",
            hint="A timed run ends with the first wrong answer; omit all_cases.",
        )
    code = validate_source("solution_code", request.solution_code)
    return NewSubmission(
        id=service.new_id("sub"),
        owner=caller.user,
        problem=problem,
        gpu=validate_gpu(service.settings, request.gpu_type),
        dtype=dtype.value,
        language=request.language,
        endpoint=request.endpoint.value,
        file_name=request.file_name,
        code=code,
        created_at=service.clock.now(),
        idempotency_key=_validate_idempotency_key(idempotency_key),
        problem_def=None
        if request.problem_def is None
        else validate_source("problem_def", request.problem_def),
        own_cases=own_cases,
        all_cases=request.all_cases,
        launch=_validate_launch(request, code),
    )


def _validate_launch(request: SubmitRequest, code: str) -> str | None:
    """Return the JSON of the launch of a scratch kernel; None if there is none."""
    if request.launch is None:
        return None
    declared = request.launch.model_dump(exclude_none=True)
    validate_launch(declared, code)
    return json.dumps(declared)


def scale_of_checks(service: ServiceContext) -> Scale:
    """Return the scale of the machines that judge checks."""
    if service.state == "standby":  # it has no provider until it takes over
        simulated = service.settings.provider == "local"
    else:
        simulated = service.provider.simulated
    return Scale.CPU if simulated or service.settings.has_cpu_nodes else Scale.GPU


def _validate_own_cases(
    service: ServiceContext, problems: ProblemCatalog, request: SubmitRequest, dtype: Dtype
) -> str | None:
    """Return the JSON of the author's own cases; None if there are none."""
    if not request.own_cases:
        return None
    if request.endpoint is not Endpoint.CHECKER:
        raise InvalidField(
            "endpoint",
            request.endpoint.value,
            "checker, because the request has own_cases",
            hint="Check them with the endpoint checker; then submit without own_cases.",
        )
    if request.problem_def is not None:
        raise InvalidText(
            "own_cases", "own_cases cannot be combined with problem_def.", hint="Add the case to problem_def."
        )
    declared = [case.model_dump() for case in request.own_cases]
    problem = problems.require(request.problem)
    return to_json(validate_own_cases(declared, problem, dtype, scale_of_checks(service)))


def validate_source(field: str, text: str) -> str:
    """Return a field's source code as the compiler will read it."""
    try:
        # JSON can escape half of a surrogate pair; decoding then rejects it like any other invalid UTF-8.
        return decode_source(text.encode(errors="surrogatepass"), field)
    except BadSourceFile as error:
        raise InvalidText(field, error.message, hint=error.hint) from None


def validate_gpu(settings: Settings, name: str | None) -> str:
    """Return the requested or default GPU type; raise `InvalidField` if it is not enabled."""
    name = name or settings.default_gpu
    gpu = gpus.by_name(name)
    if gpu is None or name not in settings.gpu_types:
        enabled = ", ".join(settings.gpu_types)
        hint = "GET /api/amd/gpus describes the GPUs." if gpu is None else f"{name} is known but not enabled."
        raise InvalidField("gpu_type", name, enabled, hint=hint)
    return gpu.name


def validate_dtype(problem: Problem, dtype: Dtype | None) -> Dtype:
    """Return the requested dtype of the problem, or its first one by default."""
    if dtype is None:
        return problem.dtypes[0]
    if dtype not in problem.dtypes:
        allowed = ", ".join(dtype.value for dtype in problem.dtypes)
        raise InvalidField("dtype", dtype.value, f"{allowed} (dtypes of {problem.slug})")
    return dtype


def _validate_problem(problems: ProblemCatalog, request: SubmitRequest) -> tuple[str, Dtype]:
    if request.launch is not None:
        _check_scratch(request)
        return SLUG, Dtype.FLOAT32
    if request.problem == SLUG and request.problem_def is None:
        raise InvalidText("launch", "launch is missing: the problem scratch has no cases of its own.")
    if request.problem_def is None:
        problem = problems.require(request.problem)
        return problem.slug, validate_dtype(problem, request.dtype)
    # An operator's own problem is loaded later, in a sandbox; only its name can be checked here.
    if not _SLUG.fullmatch(request.problem):
        raise InvalidField("problem", request.problem, "a name such as my-problem")
    return request.problem, request.dtype or Dtype.FLOAT32


def _check_scratch(request: SubmitRequest) -> None:
    """Raise an error if a launch is combined with something that needs a problem."""
    if request.problem != SLUG:
        raise InvalidField("problem", request.problem, f"{SLUG}, because the request has a launch")
    if request.endpoint is not Endpoint.CHECKER:
        raise InvalidField("endpoint", request.endpoint.value, "checker, because the request has a launch")
    for name in ("problem_def", "dtype", "own_cases", "all_cases"):
        if getattr(request, name):
            raise InvalidText(name, f"{name} cannot be combined with launch.", hint=f"Remove {name}.")


def _validate_idempotency_key(header: str | None) -> str | None:
    if header is not None and not _IDEMPOTENCY_KEY.fullmatch(header):
        raise InvalidText(
            "Idempotency-Key",
            f"Idempotency-Key is {quote_value(header)}; allowed: 1 to 200 printable ASCII characters.",
            hint="Use a UUID, for example.",
        )
    return header
