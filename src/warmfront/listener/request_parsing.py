"""Reads what a control plane sends: a body becomes an `ExecuteRequest`, and that a `JudgeRequest`.

What cannot be read is refused with the name of its field.
Nothing is believed: sizes, types and names are looked at before anything is started.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from warmfront import problems
from warmfront.errors import BadRequest, BadSourceFile, UnknownProblem
from warmfront.judge_request import MAX_SOURCE_BYTES, JudgeRequest, decode_source
from warmfront.listener.protocol import ExecuteRequest
from warmfront.problems.spec import Dtype, Problem
from warmfront.verdicts import Endpoint

MAX_BODY_BYTES = 1 << 20

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,255}")
_SLUG = re.compile(r"(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*")
_OPTIONAL = {"problem_def"}
#: What an attempt may do on a VM; the X-ray was done before.
_ENDPOINTS = {endpoint.value for endpoint in Endpoint if endpoint is not Endpoint.XRAY}


class InvalidField(BadRequest):
    """A field of the attempt has a value that is not allowed."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


def parse_execute_request(body: bytes) -> ExecuteRequest:
    """The attempt in a request's body."""
    fields = _read_object(body)
    known = {field.name for field in dataclasses.fields(ExecuteRequest)}
    for name in fields.keys() - known:
        raise InvalidField(name[:64], "there is no such field.")
    for name in sorted(known):
        _refuse_wrong_type(name, fields)
    attempt = ExecuteRequest(**fields)
    if not _ID.fullmatch(attempt.id):
        raise InvalidField("id", "letters, digits and _ . : - are allowed, 128 at most.")
    if not _FILE_NAME.fullmatch(attempt.file_name):
        raise InvalidField("file_name", "it is no name of a file.")
    if attempt.endpoint not in _ENDPOINTS:
        raise InvalidField("endpoint", f"one of {', '.join(sorted(_ENDPOINTS))} is expected.")
    _source_of(attempt)
    _refuse_bad_problem(attempt)
    return attempt


def to_judge_request(attempt: ExecuteRequest, problem: Problem) -> JudgeRequest:
    """What the judge gets."""
    return JudgeRequest(
        source=_source_of(attempt),
        problem=problem,
        dtype=dtype_of(attempt, problem),
        endpoint=Endpoint(attempt.endpoint),
        file_name=attempt.file_name,
    )


def dtype_of(attempt: ExecuteRequest, problem: Problem) -> Dtype:
    """The dtype that was asked for, if the problem has it."""
    allowed = [dtype.value for dtype in problem.dtypes]
    if attempt.dtype not in allowed:
        raise InvalidField("dtype", f"{problem.slug} has {' and '.join(allowed)}.")
    return Dtype(attempt.dtype)


def _read_object(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidField("body", "it is not JSON.") from None
    if not isinstance(fields, dict):
        raise InvalidField("body", "a JSON object is expected.")
    return fields


def _refuse_wrong_type(name: str, fields: dict[str, Any]) -> None:
    if name not in fields and name not in _OPTIONAL:
        raise InvalidField(name, "it is missing.")
    value = fields.get(name)
    if not isinstance(value, str) and not (name in _OPTIONAL and value is None):
        raise InvalidField(name, "text is expected.")


def _source_of(attempt: ExecuteRequest) -> str:
    try:
        return decode_source(attempt.source.encode(), attempt.file_name)
    except BadSourceFile as error:
        raise InvalidField("source", error.message) from None
    except UnicodeEncodeError:
        raise InvalidField("source", "it has half a character: a surrogate without its other.") from None


def _refuse_bad_problem(attempt: ExecuteRequest) -> None:
    if attempt.problem_def is None:
        try:
            dtype_of(attempt, problems.get(attempt.problem))
        except UnknownProblem as error:
            raise InvalidField("problem", error.message) from None
        return
    if not _SLUG.fullmatch(attempt.problem):
        raise InvalidField("problem", "a slug such as dot-product is expected.")
    # Its own problem is loaded in a sandbox, later; only what can be told from here is looked at.
    if len(attempt.problem_def) > MAX_SOURCE_BYTES or _half_a_character(attempt.problem_def):
        raise InvalidField("problem_def", f"text of at most {MAX_SOURCE_BYTES:,} characters is expected.")
    if attempt.dtype not in {dtype.value for dtype in Dtype}:
        raise InvalidField("dtype", f"one of {', '.join(Dtype)} is expected.")


def _half_a_character(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
