"""The version of the wire schema: a header on every response, and a field of every event."""

from __future__ import annotations

from typing import Any

from tests.support.api_harness import ApiHarness, served
from warmfront.wire.events import SubmissionEvent


@served(start=False)
async def test_every_response_has_the_version(harness: ApiHarness) -> None:
    """Successes, error responses and the page's own responses carry the header once."""
    requests: list[tuple[str, str, list[bytes]]] = [
        ("GET", "/api/amd/metrics", []),
        ("GET", "/api/amd/health", []),
        ("GET", "/metrics", []),
        ("GET", "/", []),
        ("GET", "/nothing", []),
        ("PUT", "/api/amd/submit", []),
        ("POST", "/api/amd/submit", [b"x" * 600_000]),
    ]
    for method, path, body in requests:
        response = await harness.client.ask(method, path, body)
        assert response.headers["warmfront-version"] == "1", path


@served(start=False)
async def test_an_unsupported_version_is_rejected(harness: ApiHarness) -> None:
    """The error names the supported versions; the current version is accepted."""
    for version in ("2", "", "one", "1.0"):
        response = await harness.client.get("/api/amd/metrics", warmfront_version=version)
        assert (response.status, response.json()["code"]) == (400, "UNSUPPORTED_VERSION")
        assert "supported: 1" in response.json()["detail"]
        assert response.headers["warmfront-version"] == "1"
    assert (await harness.client.get("/api/amd/metrics", warmfront_version="1")).status == 200


@served()
async def test_every_event_has_the_schema_version(harness: ApiHarness) -> None:
    """The events of a stream and the `result` of a submission have the same version."""
    events = (await harness.client.submit(accept="*/*")).events()
    assert {event["schema"] for event in events} == {1}
    detail = (await harness.client.get(f"/api/amd/submissions/{events[0]['submission_id']}")).json()
    assert detail["result"] == events[-1]


@served()
async def test_the_orchestrators_events_match_the_schema(harness: ApiHarness) -> None:
    """The events that the control plane writes itself validate against the OpenAPI models."""
    events = (await harness.client.submit(accept="*/*")).events()
    for event in events:
        if event["status"] in {"IN_QUEUE", "PROVISIONING", "VM_READY", "XRAY"}:
            assert not SubmissionEvent.model_validate(event).root.model_extra, event


@served(start=False)
async def test_openapi_describes_events_and_enums(harness: ApiHarness) -> None:
    """Events are a discriminated union, streams refer to it, and closed lists are enums."""
    document: dict[str, Any] = (await harness.client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    assert schemas["SubmissionEvent"]["discriminator"]["propertyName"] == "status"
    stream = document["paths"]["/api/amd/submit"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    assert stream["schema"] == {"$ref": "#/components/schemas/SubmissionEventMessage"}
    data = schemas["SubmissionEventMessage"]["properties"]["data"]
    assert data["contentSchema"] == {"$ref": "#/components/schemas/SubmissionEvent"}
    for name in ("Endpoint", "Verdict", "VMState", "SubmissionState", "Dtype", "Meter", "VMStart"):
        assert schemas[name]["enum"], name
