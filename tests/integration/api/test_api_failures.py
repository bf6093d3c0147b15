"""What goes wrong, as an answer: one shape, a stable code, and never a secret or a stack."""

from __future__ import annotations

import logging

import pytest

from tests.support.api_harness import Lab, served
from warmfront.errors import NoSandbox, StoreUnavailable


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api", 404, "NOT_FOUND"),
        ("GET", "/api/amd/nothing", 404, "NOT_FOUND"),
        ("GET", "/api/amd/submit", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/api/amd/submissions/sub_1", 405, "METHOD_NOT_ALLOWED"),
        ("PUT", "/api/amd/gpus", 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_what_is_not_there_is_said_in_the_same_shape(method: str, path: str, status: int, code: str) -> None:
    """404 and 405 are problems too, and 405 says what is allowed."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.ask(method, path)
        assert (answer.status, answer.json()["code"]) == (status, code)
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) >= {"type", "title", "status", "code", "detail", "hint"}
        assert status != 405 or answer.headers["allow"]

    ask()


@served(start=False)
async def test_a_store_that_is_away_is_503(lab: Lab) -> None:
    """Every route says so, with when to try again; when it is back, so is the service."""
    real = lab.store.database.read

    async def gone(*_: object, **__: object) -> None:
        raise StoreUnavailable

    lab.store.database.read = gone
    for path in ("/api/amd/submissions", "/api/amd/metrics", "/metrics", "/api/amd/gpus"):
        answer = await lab.client.get(path)
        assert (answer.status, answer.json()["code"]) == (503, "STORE_UNAVAILABLE")
        assert int(answer.headers["retry-after"]) > 0
    lab.store.database.read = real
    assert (await lab.client.get("/api/amd/submissions")).status == 200


@served(start=False)
async def test_a_submission_that_cannot_be_stored_is_not_taken(lab: Lab) -> None:
    """A full disk: 503, and nothing is left that would never get its verdict."""
    real = lab.store.database.write

    async def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("The disk is full.")

    lab.store.database.write = full
    answer = await lab.client.submit()
    assert (answer.status, answer.json()["detail"]) == (503, "The disk is full.")
    lab.store.database.write = real
    assert (await lab.client.get("/api/amd/submissions")).json()["items"] == []
    assert (await lab.client.submit()).status == 202


@served(start=False)
async def test_a_machine_that_cannot_xray_is_503(lab: Lab) -> None:
    """The author is not to blame."""

    async def unable(*_: object, **__: object) -> None:
        raise NoSandbox

    object.__setattr__(lab.service, "xray", unable)
    answer = await lab.client.post("/api/amd/xray", {"solution_code": "// x"})
    assert (answer.status, answer.json()["code"]) == (503, "NO_SANDBOX")


def test_a_bug_of_ours_is_500_with_a_number(caplog: pytest.LogCaptureFixture) -> None:
    """The answer tells a number and nothing more; the log has the rest under it."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        async def buggy(*_: object, **__: object) -> None:
            raise RuntimeError("the password is hunter2")

        lab.store.database.write = buggy
        answer = await lab.client.submit()
        assert (answer.status, answer.json()["code"]) == (500, "INTERNAL")
        assert b"hunter2" not in answer.body
        assert answer.json()["error_id"] in caplog.text
        assert "hunter2" in caplog.text

    ask()


def test_each_request_is_a_line_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """Method, path, status and time; no key, no query, and no line that a path could forge."""
    caplog.set_level(logging.INFO, "warmfront.access")

    @served(start=False)
    async def ask(lab: Lab) -> None:
        secret = lab.key("ada")
        await lab.client.with_key(secret).get("/api/amd/gpus?token=s3cret")
        (line,) = [record.getMessage() for record in caplog.records if record.name == "warmfront.access"]
        assert line.startswith("GET /api/amd/gpus 200 ")
        assert secret not in caplog.text
        assert "s3cret" not in caplog.text

    ask()
