"""The audit log over HTTP."""

from __future__ import annotations

from tests.support.api_harness import ApiHarness, served
from warmfront.audit_chain import Actor, AuditAction
from warmfront.roles import Role

AUDIT = "/api/amd/audit"


@served()
async def test_operators_read_and_check_the_log(harness: ApiHarness) -> None:
    """The log is paged, newest first; other users may not read it."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    for number in range(3):
        record = Actor(name="eve", via="key1").record(AuditAction.VM_DRAIN, f"vm_{number}")
        await harness.store.append_audit(record, harness.clock.now())
    assert (await ada.get(AUDIT)).status == 403
    assert (await ada.get(f"{AUDIT}/check")).status == 403
    first = (await operator.get(f"{AUDIT}?limit=2")).json()
    assert [entry["subject"] for entry in first["items"]] == ["vm_2", "vm_1"]
    rest = (await operator.get(f"{AUDIT}?limit=2&before={first['next_before']}")).json()
    assert [entry["subject"] for entry in rest["items"]] == ["vm_0"]
    assert rest["next_before"] is None
    assert rest["items"][0]["previous_sha256"] == ""
    assert first["items"][1]["previous_sha256"] == rest["items"][0]["sha256"]
    filtered = (await operator.get(f"{AUDIT}?subject=vm_1")).json()
    assert [entry["seq"] for entry in filtered["items"]] == [2]
    check = (await operator.get(f"{AUDIT}/check")).json()
    assert (check["intact"], check["entries"]) == (True, 3)
    assert check["head_sha256"] == first["items"][0]["sha256"]


@served()
async def test_a_bad_filter_names_the_field(harness: ApiHarness) -> None:
    """The error names the parameter and what is allowed."""
    answer = await harness.client.get(f"{AUDIT}?limit=1000")
    assert (answer.status, answer.json()["field"]) == (422, "limit")
    assert "500" in answer.json()["detail"]
    assert (await harness.client.get(f"{AUDIT}?before=x")).json()["field"] == "before"
