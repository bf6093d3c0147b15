"""Error responses: one shape, a stable code, and never a secret or a stack trace."""

from __future__ import annotations

import logging

import pytest

from tests.support.api_harness import ApiHarness, served
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
def test_unknown_routes_and_methods_are_problem_responses(
    method: str, path: str, status: int, code: str
) -> None:
    """404 and 405 have the same shape, and 405 lists the allowed methods."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.ask(method, path)
        assert (answer.status, answer.json()["code"]) == (status, code)
        assert answer.headers["content-type"] == "application/problem+json"
        assert set(answer.json()) >= {"type", "title", "status", "code", "detail", "hint"}
        assert status != 405 or answer.headers["allow"]

    ask()


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/amd/submit", "POST"),
        ("OPTIONS", "/api/amd/shares", "GET"),
        ("OPTIONS", "/api/amd/limits", "GET, POST"),
        ("DELETE", "/api/amd/submissions/sub_1/share", "GET, POST"),
        ("PUT", "/metrics", "GET"),
    ],
)
def test_allow_lists_all_methods_of_the_path(method: str, path: str, allowed: str) -> None:
    """GET and POST of one path are two routes, and a 405 response lists the methods of both."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.ask(method, path)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)

    ask()


@served(start=False)
async def test_an_unavailable_store_is_503(harness: ApiHarness) -> None:
    """Every route responds with 503 and Retry-After, and works again when the store is back."""
    real = harness.store.database.read

    async def gone(*_: object, **__: object) -> None:
        raise StoreUnavailable

    harness.store.database.read = gone
    for path in ("/api/amd/submissions", "/api/amd/metrics", "/metrics", "/api/amd/gpus"):
        answer = await harness.client.get(path)
        assert (answer.status, answer.json()["code"]) == (503, "STORE_UNAVAILABLE")
        assert int(answer.headers["retry-after"]) > 0
    harness.store.database.read = real
    assert (await harness.client.get("/api/amd/submissions")).status == 200


@served(start=False)
async def test_a_submission_that_cannot_be_stored_is_not_accepted(harness: ApiHarness) -> None:
    """With a full disk the response is 503, and no submission without a verdict is left behind."""
    real = harness.store.database.write

    async def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("The disk is full.")

    harness.store.database.write = full
    answer = await harness.client.submit()
    assert (answer.status, answer.json()["detail"]) == (503, "The disk is full.")
    harness.store.database.write = real
    assert (await harness.client.get("/api/amd/submissions")).json()["items"] == []
    assert (await harness.client.submit()).status == 202


@pytest.mark.parametrize(
    ("message", "detail"),
    [
        (
            "The database /var/lib/warmfront/warmfront.db is unavailable: disk I/O error",
            "The database (path) is unavailable: disk (path) error",
        ),
        ("Cannot open '/srv/a folder/file': denied.", "Cannot open (path): denied."),
        ("The database data/warmfront.db is locked.", "The database (path) is locked."),
        ("No server responds at http://10.0.0.7:3001/x.", "No server responds at (address)"),
    ],
)
def test_a_503_reveals_no_path(message: str, detail: str) -> None:
    """The detail has neither paths nor addresses of the service's machine, and `ready` neither."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        async def gone(*_: object, **__: object) -> None:
            raise StoreUnavailable(message)

        harness.store.database.read = gone
        answer = await harness.client.get("/api/amd/submissions")
        assert (answer.status, answer.json()["detail"]) == (503, detail)
        assert (await harness.client.get("/ready")).json()["reasons"] == [f"the store: {detail}"]

    ask()


@pytest.mark.parametrize(
    "path", ["/api/amd/gpus", "/health", "/metrics", "/api/amd/nothing", "/", "/openapi.json"]
)
def test_no_response_is_sniffed(path: str) -> None:
    """Every response, including errors and event streams, has the `nosniff` header once."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"

    ask()


@served(start=False)
async def test_an_xray_without_a_toolchain_is_503(harness: ApiHarness) -> None:
    """The request is not the cause, so the status is 503."""

    async def unable(*_: object, **__: object) -> None:
        raise NoSandbox

    object.__setattr__(harness.service, "xray", unable)
    answer = await harness.client.post("/api/amd/xray", {"solution_code": "// x"})
    assert (answer.status, answer.json()["code"]) == (503, "NO_SANDBOX")


def test_an_unhandled_exception_is_500_with_an_error_id(caplog: pytest.LogCaptureFixture) -> None:
    """The response has only an error id; the log has the details under that id."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        async def buggy(*_: object, **__: object) -> None:
            raise RuntimeError("the password is hunter2")

        harness.store.database.write = buggy
        answer = await harness.client.submit()
        assert (answer.status, answer.json()["code"]) == (500, "INTERNAL")
        assert b"hunter2" not in answer.body
        assert answer.json()["error_id"] in caplog.text
        assert "hunter2" in caplog.text

    ask()


def test_the_access_log_contains_no_secrets(caplog: pytest.LogCaptureFixture) -> None:
    """A line has method, path, status and time: no key, no query, and a path cannot forge a line."""
    caplog.set_level(logging.INFO, "warmfront.access")

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        secret = harness.key("ada")
        await harness.client.with_key(secret).get("/api/amd/gpus?token=s3cret")
        (line,) = [record.getMessage() for record in caplog.records if record.name == "warmfront.access"]
        assert line.startswith("GET /api/amd/gpus 200 ")
        assert secret not in caplog.text
        assert "s3cret" not in caplog.text

    ask()
