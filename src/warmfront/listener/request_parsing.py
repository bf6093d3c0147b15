"""Parse and validate requests: turn a body into an `ExecuteRequest`, and that into a `JudgeRequest`.

Sizes, types and names are checked before anything is started. The error for an invalid request names the
field.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from warmfront import problems
from warmfront.errors import BadRequest, BadSourceFile, InvalidLaunch, UnknownProblem
from warmfront.hip.scratch import ScratchProblem, compose_source, parse_launch
from warmfront.judge_request import MAX_SOURCE_BYTES, JudgeRequest, decode_source
from warmfront.listener.protocol import ExecuteRequest
from warmfront.problems.own_cases import parse_own_cases
from warmfront.problems.spec import Dtype, Problem, Scale
from warmfront.verdicts import Endpoint

MAX_BODY_BYTES = 1 << 20

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,255}")
_SLUG = re.compile(r"(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*")
_OPTIONAL = {"problem_def", "own_cases", "launch"}
_MAX_SLOT = 1023
#: The endpoints of attempts; `xray` needs no VM.
_ENDPOINTS = {endpoint.value for endpoint in Endpoint if endpoint is not Endpoint.XRAY}


class InvalidExecuteRequest(BadRequest):
    """A field of the request is missing or has a value that is not allowed."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def parse_execute_request(body: bytes) -> ExecuteRequest:
    """Parse the body of `POST /execute`. Raises `InvalidExecuteRequest`."""
    fields = _read_object(body)
    known = {field.name for field in dataclasses.fields(ExecuteRequest)}
    for name in fields.keys() - known:
        raise InvalidExecuteRequest(name[:64], "unknown field.")
    for name in sorted(known - {"slot", "all_cases"}):
        _check_type(name, fields)
    _check_slot(fields.get("slot"))
    if not isinstance(fields.get("all_cases"), bool | None):
        raise InvalidExecuteRequest("all_cases", "expected true or false.")
    attempt = ExecuteRequest(**fields)
    if not _ID.fullmatch(attempt.id):
        raise InvalidExecuteRequest("id", "expected up to 128 letters, digits and the characters _ . : -")
    if not _FILE_NAME.fullmatch(attempt.file_name):
        raise InvalidExecuteRequest("file_name", "not a valid file name.")
    if attempt.endpoint not in _ENDPOINTS:
        raise InvalidExecuteRequest("endpoint", f"expected one of {', '.join(sorted(_ENDPOINTS))}.")
    for name in ("own_cases", "launch", "all_cases"):
        if getattr(attempt, name) and attempt.endpoint != Endpoint.CHECKER:
            raise InvalidExecuteRequest(name, "requires the endpoint checker.")
    _source_of(attempt)
    _check_problem(attempt)
    return attempt


def to_judge_request(attempt: ExecuteRequest, problem: Problem, scale: Scale) -> JudgeRequest:
    """Return the request for the judge, whose cases are for machines of this scale."""
    dtype, source = dtype_of(attempt, problem), _source_of(attempt)
    if isinstance(problem, ScratchProblem):
        source = compose_source(source, problem.launch)
    return JudgeRequest(
        source=source,
        problem=problem,
        dtype=dtype,
        endpoint=Endpoint(attempt.endpoint),
        file_name=attempt.file_name,
        own_cases=parse_own_cases(attempt.own_cases, problem, dtype, scale),
        all_cases=bool(attempt.all_cases),
    )


def scratch_problem(attempt: ExecuteRequest) -> ScratchProblem | None:
    """Return the problem of a launch; None if the attempt has none. Raises `InvalidExecuteRequest`."""
    if attempt.launch is None:
        return None
    try:
        return ScratchProblem(parse_launch(attempt.launch, _source_of(attempt)))
    except InvalidLaunch as error:
        raise InvalidExecuteRequest(error.field, error.message) from None


def dtype_of(attempt: ExecuteRequest, problem: Problem) -> Dtype:
    """Return the requested dtype. Raises `InvalidExecuteRequest` if the problem does not support it."""
    allowed = [dtype.value for dtype in problem.dtypes]
    if attempt.dtype not in allowed:
        raise InvalidExecuteRequest("dtype", f"{problem.slug} supports {' and '.join(allowed)}.")
    return Dtype(attempt.dtype)


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidExecuteRequest("body", "not valid JSON.") from None
    if not isinstance(fields, dict):
        raise InvalidExecuteRequest("body", "expected a JSON object.")
    return fields


def _check_type(name: str, fields: dict[str, Any]) -> None:
    if name not in fields and name not in _OPTIONAL:
        raise InvalidExecuteRequest(name, "required.")
    value = fields.get(name)
    if not isinstance(value, str) and not (name in _OPTIONAL and value is None):
        raise InvalidExecuteRequest(name, "expected a string.")


def _check_slot(slot: object) -> None:
    if slot is not None and (type(slot) is not int or not 0 <= slot <= _MAX_SLOT):
        raise InvalidExecuteRequest("slot", f"expected a whole number from 0 to {_MAX_SLOT}.")


def _source_of(attempt: ExecuteRequest) -> str:
    try:
        return decode_source(attempt.source.encode(), attempt.file_name)
    except BadSourceFile as error:
        raise InvalidExecuteRequest("source", error.message) from None
    except UnicodeEncodeError:
        raise InvalidExecuteRequest("source", "contains an unpaired surrogate.") from None


def _check_problem(attempt: ExecuteRequest) -> None:
    if (scratch := scratch_problem(attempt)) is not None:
        dtype_of(attempt, scratch)
        return
    if attempt.problem_def is None:
        try:
            dtype_of(attempt, problems.get(attempt.problem))
        except UnknownProblem as error:
            raise InvalidExecuteRequest("problem", error.message) from None
        return
    if not _SLUG.fullmatch(attempt.problem):
        raise InvalidExecuteRequest("problem", "expected a slug such as dot-product.")
    # The problem is loaded later, in a sandbox; check only what can be checked without running it.
    if len(attempt.problem_def) > MAX_SOURCE_BYTES or _has_surrogates(attempt.problem_def):
        raise InvalidExecuteRequest(
            "problem_def", f"expected a string of at most {MAX_SOURCE_BYTES:,} characters."
        )
    if attempt.dtype not in {dtype.value for dtype in Dtype}:
        raise InvalidExecuteRequest("dtype", f"expected one of {', '.join(Dtype)}.")


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
