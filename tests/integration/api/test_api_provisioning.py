"""Why no VM is provisioned, and the reset of a circuit breaker."""

from __future__ import annotations

from tests.support.api_harness import ApiHarness, served
from warmfront.errors import ProviderError
from warmfront.provisioning import FailureKind
from warmfront.roles import Role


@served()
async def test_an_open_breaker_is_shown_and_reset(harness: ApiHarness) -> None:
    """Users see the reason, operators also the hint; only operators may reset, and then VMs are requested."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    assert (await ada.get("/api/amd/provisioning")).json()["problems"] == []
    harness.provider.refuses = lambda _: ProviderError(
        "The image cannot be pulled.", hint="Check it.", kind=FailureKind.BAD_IMAGE
    )
    assert (await ada.submit(accept="*/*")).events()[-1]["status"] == "ERROR"
    (shown,) = (await ada.get("/api/amd/provisioning")).json()["problems"]
    assert (shown["gpu_type"], shown["open"], shown["kind"]) == ("MI300X", True, "BAD_IMAGE")
    assert (shown["reason"], shown["hint"], shown["failures"]) == ("The image cannot be pulled.", "", 1)
    (full,) = (await operator.get("/api/amd/operations")).json()["provisioning"]
    assert full["hint"] == "Check it."
    metrics = (await operator.get("/metrics")).body.decode()
    assert 'warmfront_provisioning_breaker_open{gpu="MI300X",kind="BAD_IMAGE"} 1.0' in metrics
    harness.provider.refuses = lambda _: None
    reset = "/api/amd/provisioning/MI300X/reset"
    assert (await ada.post(reset)).status == 403
    assert (await operator.post("/api/amd/provisioning/MI999X/reset")).status == 404
    answer = await operator.post(reset)
    assert (answer.status, answer.json()["problems"]) == (200, [])
    assert (await ada.submit(accept="*/*")).events()[-1]["status"] != "ERROR"
