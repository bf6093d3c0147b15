"""Quotes, and the solutions of problems."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import ApiHarness, Client, served
from warmfront.testing.fake_listeners import FakeKernel
from warmfront.verdicts import Verdict

PLACE = "/api/amd/quote?problem=leaky-relu"


async def _quote(client: Client, more: str = "") -> dict[str, Any]:
    answer = await client.get(PLACE + more)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


async def _problems(client: Client) -> dict[str, Any]:
    items = (await client.get("/api/amd/problems")).json()["items"]
    return {item["slug"]: item for item in items}


@served()
async def test_a_quote_is_cold_then_warm(harness: ApiHarness) -> None:
    """A VM that has to be provisioned takes longer and costs more than a warm one."""
    cold = await _quote(harness.client)
    await harness.client.submit(accept="*/*")
    warm = await _quote(harness.client)
    assert (cold["vm_state"], warm["vm_state"]) == ("COLD_START", "WARM_REUSE")
    assert cold["total_s"] > cold["wait_s"] > warm["wait_s"] == 0.0 < warm["total_s"]
    assert cold["cost_usd"] > warm["cost_usd"] > 0
    assert (cold["refusal"], warm["refusal"]) == (None, None)
    assert (warm["problem"], warm["gpu_type"], warm["endpoint"]) == ("leaky-relu", "MI300X", "submit")
    assert warm["now"] > cold["now"]


@served()
async def test_an_xray_needs_no_vm(harness: ApiHarness) -> None:
    """Its quote has no wait and no cost."""
    quote = await _quote(harness.client, "&endpoint=xray")
    assert (quote["vm_state"], quote["total_s"], quote["cost_usd"]) == (None, 0, 0)


@served(credits_usd=Decimal("0.10"))
async def test_a_quote_reports_exhausted_credits(harness: ApiHarness) -> None:
    """`refusal` has the same text as the verdict that a submission would get."""
    refusal = (await _quote(harness.client))["refusal"]
    verdict = (await harness.client.submit(accept="*/*")).events()[-1]
    assert verdict["status"] == refusal["code"] == "BUDGET_EXCEEDED"
    assert refusal["detail"] == verdict["message"]
    assert "AMD_GRANT_CREDITS_TOTAL" in refusal["hint"]


@served(credits_usd=Decimal("2.00"))
async def test_a_warm_vm_is_quoted_if_the_credits_cover_no_second_vm(harness: ApiHarness) -> None:
    """One more task on the existing VM is affordable, and a quote reserves nothing."""
    await harness.client.submit(accept="*/*")
    before = harness.orchestrator.budget_status()
    assert (await _quote(harness.client))["refusal"] is None
    assert harness.orchestrator.budget_status().reserved_usd == before.reserved_usd


@served(daily_budget_usd=Decimal("0.05"))
async def test_a_quote_reports_an_exceeded_daily_budget(harness: ApiHarness) -> None:
    """Only the user who exceeded it gets the refusal."""
    ada, bob = harness.user("ada"), harness.user("bob")
    kernel = FakeKernel(key="long", work_s=60.0).source()
    await ada.submit(accept="*/*", solution_code=kernel)
    assert "Daily cap" in (await _quote(ada))["refusal"]["detail"]
    assert (await _quote(bob))["refusal"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?problem=nope", "problem"),
        ("", "problem"),
        ("?problem=relu&gpu_type=H100", "gpu_type"),
        ("?problem=relu&endpoint=train", "endpoint"),
    ],
)
def test_an_invalid_quote_request_is_rejected(query: str, field: str) -> None:
    """The response is 422 and names the parameter."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        answer = await harness.client.get(f"/api/amd/quote{query}")
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served()
async def test_problems_have_their_best_times(harness: ApiHarness) -> None:
    """Accepted submissions of all users count, the best time is per GPU, and `solved` is about the caller."""
    ada, bob = harness.user("ada"), harness.user("bob")
    wrong = FakeKernel(key="w", verdict=Verdict.WRONG_ANSWER).source()
    await ada.submit(accept="*/*", endpoint="submit", problem="relu")
    await ada.submit(accept="*/*", endpoint="submit", problem="relu")
    await bob.submit(accept="*/*", endpoint="submit", problem="relu", solution_code=wrong)
    of_ada, of_bob = [await _problems(client) for client in (ada, bob)]
    assert (of_ada["relu"]["solutions"], of_ada["relu"]["solved"]) == (2, True)
    assert (of_bob["relu"]["solutions"], of_bob["relu"]["solved"]) == (2, False)
    (best,) = of_ada["relu"]["best_times"]
    assert (best["gpu_type"], best["simulated"]) == ("MI300X", False)
    assert best["runtime_ms"] > 0
    assert (of_ada["softmax"]["solutions"], of_ada["softmax"]["best_times"]) == (0, [])
    assert (await bob.get("/api/amd/problems/relu")).json()["solutions"] == 2


@served(start=False)
async def test_every_problem_has_a_formula(harness: ApiHarness) -> None:
    """The formula is TeX without delimiters."""
    for item in (await harness.client.get("/api/amd/problems")).json()["items"]:
        assert item["formula"], item["slug"]
        assert "$" not in item["formula"]
