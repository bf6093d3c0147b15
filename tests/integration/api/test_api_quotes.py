"""What is said before anything is handed in: what it takes, what it costs, and what was solved so far."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support.api_harness import Client, Lab, served
from warmfront.testing.fake_listeners import Kernel
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
async def test_a_quote_is_cold_then_warm(lab: Lab) -> None:
    """Without a VM it has to start, which takes longer and costs more than one that waits already."""
    cold = await _quote(lab.client)
    await lab.client.submit(accept="*/*")
    warm = await _quote(lab.client)
    assert (cold["vm_state"], warm["vm_state"]) == ("COLD_START", "WARM_REUSE")
    assert cold["total_s"] > cold["wait_s"] > warm["wait_s"] == 0.0 < warm["total_s"]
    assert cold["cost_usd"] > warm["cost_usd"] > 0
    assert (cold["refusal"], warm["refusal"]) == (None, None)
    assert (warm["problem"], warm["gpu_type"], warm["endpoint"]) == ("leaky-relu", "MI300X", "submit")
    assert warm["now"] > cold["now"]


@served()
async def test_an_xray_needs_no_vm(lab: Lab) -> None:
    """It waits for none and costs nothing."""
    quote = await _quote(lab.client, "&endpoint=xray")
    assert (quote["vm_state"], quote["total_s"], quote["cost_usd"]) == (None, 0, 0)


@served(credits_usd=Decimal("0.10"))
async def test_a_quote_says_that_the_credits_do_not_reach(lab: Lab) -> None:
    """The refusal that a submission would get is in the quote, in the same words."""
    refusal = (await _quote(lab.client))["refusal"]
    verdict = (await lab.client.submit(accept="*/*")).events()[-1]
    assert verdict["status"] == refusal["code"] == "BUDGET_EXCEEDED"
    assert refusal["detail"] == verdict["message"]
    assert "AMD_GRANT_CREDITS_TOTAL" in refusal["hint"]


@served(credits_usd=Decimal("1.50"))
async def test_a_warm_vm_is_quoted_where_no_second_one_would_fit(lab: Lab) -> None:
    """What counts is one task more on the VM that there is, and asking reserves nothing."""
    await lab.client.submit(accept="*/*")
    before = lab.orchestrator.budget_status()
    assert (await _quote(lab.client))["refusal"] is None
    assert lab.orchestrator.budget_status().reserved_usd == before.reserved_usd


@served(daily_budget_usd=Decimal("0.0001"))
async def test_a_quote_says_that_the_day_is_spent(lab: Lab) -> None:
    """Only the user who spent it is told so."""
    ada, bob = lab.user("ada"), lab.user("bob")
    await ada.submit(accept="*/*")
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
def test_a_quote_for_nothing_is_refused(query: str, field: str) -> None:
    """What could not be submitted has no quote; the field is named."""

    @served(start=False)
    async def ask(lab: Lab) -> None:
        answer = await lab.client.get(f"/api/amd/quote{query}")
        assert (answer.status, answer.json()["field"]) == (422, field)

    ask()


@served()
async def test_problems_know_their_solutions(lab: Lab) -> None:
    """Accepted ones are counted for all, the best time is by GPU, and `solved` is the caller's own."""
    ada, bob = lab.user("ada"), lab.user("bob")
    wrong = Kernel(key="w", verdict=Verdict.WRONG_ANSWER).source()
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
async def test_every_problem_has_a_formula(lab: Lab) -> None:
    """It is TeX, without the signs around it."""
    for item in (await lab.client.get("/api/amd/problems")).json()["items"]:
        assert item["formula"], item["slug"]
        assert "$" not in item["formula"]
