"""The operators' controls over HTTP: VMs, the intake, limits, keys and teams."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.api_harness import ApiHarness, served
from warmfront.roles import Role
from warmfront.wire.base import isoformat

if TYPE_CHECKING:
    from tests.support.api_harness import Client

ROOT = "/api/amd"


async def _idle_vm(client: Client) -> str:
    assert (await client.submit(accept="*/*")).events()[-1]["status"] == "CHECKED"
    items = (await client.get(f"{ROOT}/vms")).json()["items"]
    return str(items[0]["id"])


async def _audit(client: Client) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await client.get(f"{ROOT}/audit")).json()["items"]
    return items


@served()
async def test_only_operators_control_the_service(harness: ApiHarness) -> None:
    """Every route that changes something refuses other users, and changes nothing."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    vm_id = await _idle_vm(ada)
    for path, body in (
        (f"vms/{vm_id}/release", None),
        (f"vms/{vm_id}/drain", None),
        (f"vms/{vm_id}/pin", {"until": isoformat(harness.clock.now() + 60)}),
        (f"vms/{vm_id}/unpin", None),
        ("intake/pause", {"mode": "queue", "reason": "x"}),
        ("intake/resume", None),
        ("limits", {"changes": {"max_vms": "1"}}),
        ("operators/keys", {"user": "mallory", "role": "operator"}),
        ("operators/keys/x/revoke", None),
    ):
        assert (await ada.post(f"{ROOT}/{path}", body)).status == 403, path
    for path in (f"vms/{vm_id}/actions", "limits", "operators/keys", "operators/teams"):
        assert (await ada.get(f"{ROOT}/{path}")).status == 403, path
    assert await _audit(operator) == []
    assert (await operator.get(f"{ROOT}/vms/{vm_id}")).json()["state"] == "IDLE"


@served()
async def test_an_operator_drains_a_vm_and_the_log_says_who(harness: ApiHarness) -> None:
    """The confirmation has the amount, the VM ends, and a second request gets its end."""
    operator = harness.user("eve", Role.OPERATOR)
    vm_id = await _idle_vm(operator)
    actions = (await operator.get(f"{ROOT}/vms/{vm_id}/actions")).json()["items"]
    assert {each["action"] for each in actions} == {"vm.release", "vm.drain"}
    assert all(each["saves_usd"] > 0 for each in actions)
    answer = await operator.post(f"{ROOT}/vms/{vm_id}/drain")
    assert (answer.status, answer.json()["draining"]) == (200, True)
    await asyncio.sleep(120)
    ended = (await operator.get(f"{ROOT}/vms/{vm_id}")).json()
    assert ended["state"] == "TERMINATED"
    again = await operator.post(f"{ROOT}/vms/{vm_id}/drain")
    assert (again.status, again.json()["code"]) == (409, "CONFLICT")
    assert f"ended at {ended['ended_at'][:19]}Z" in again.json()["detail"]
    assert (await operator.post(f"{ROOT}/vms/vm_none/drain")).status == 404
    refused, late, drained = await _audit(operator)
    assert (drained["actor"], drained["action"], drained["subject"]) == ("eve", "vm.drain", vm_id)
    assert (refused["outcome"], late["outcome"], drained["outcome"]) == ("REFUSED", "REFUSED", "DONE")


@served()
async def test_a_pin_needs_a_time_in_the_future(harness: ApiHarness) -> None:
    """A bad time names the field and what is allowed; a good one keeps the VM."""
    operator = harness.user("eve", Role.OPERATOR)
    vm_id = await _idle_vm(operator)
    for until in ("soon", "2020-01-01T00:00:00Z", "2023-11-20T00:00:00", "2999-01-01T00:00:00Z"):
        answer = await operator.post(f"{ROOT}/vms/{vm_id}/pin", {"until": until})
        assert (answer.status, answer.json()["field"]) == (422, "until"), until
        assert "in the future" in answer.json()["detail"]
    until = isoformat(harness.clock.now() + 7200)
    actions = (await operator.get(f"{ROOT}/vms/{vm_id}/actions?pin_until={until}")).json()["items"]
    (pin,) = [each for each in actions if each["action"] == "vm.pin"]
    assert pin["costs_usd"] > 3
    pinned = (await operator.post(f"{ROOT}/vms/{vm_id}/pin", {"until": until})).json()
    assert pinned["pinned_until"] == until
    unpinned = (await operator.post(f"{ROOT}/vms/{vm_id}/unpin")).json()
    assert unpinned["pinned_until"] is None


@served()
async def test_a_paused_intake_refuses_with_the_reason(harness: ApiHarness) -> None:
    """Authors get 503 with the reason; X-rays without a submission still work."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    assert (await ada.get(f"{ROOT}/intake")).json()["mode"] == "open"
    body = {"mode": "refuse", "reason": "The image is being replaced."}
    assert (await operator.post(f"{ROOT}/intake/pause", body)).json()["by"] == "eve"
    answer = await ada.submit()
    assert (answer.status, answer.json()["code"]) == (503, "INTAKE_PAUSED")
    assert "The image is being replaced." in answer.json()["detail"]
    shown = (await ada.get(f"{ROOT}/operations")).json()["intake"]
    assert (shown["mode"], shown["reason"]) == ("refuse", "The image is being replaced.")
    missing = await operator.post(f"{ROOT}/intake/pause", {"mode": "stop", "reason": "x"})
    assert (missing.status, missing.json()["field"]) == (422, "mode")
    assert (await ada.get(f"{ROOT}/intake/actions")).status == 403
    pause, resume = (await operator.get(f"{ROOT}/intake/actions?mode=refuse")).json()["items"]
    assert (pause["action"], resume["action"]) == ("intake.pause", "intake.resume")
    assert pause["text"] == "New submissions are refused, and cost nothing."
    assert (await operator.get(f"{ROOT}/intake/actions?mode=stop")).json()["field"] == "mode"
    assert (await operator.post(f"{ROOT}/intake/resume")).json()["mode"] == "open"
    assert (await operator.post(f"{ROOT}/intake/resume")).status == 409
    assert (await ada.submit(accept="*/*")).events()[-1]["status"] == "CHECKED"


@served()
async def test_limits_change_at_run_time(harness: ApiHarness) -> None:
    """A dry run returns the effects only; a bad value names the field."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    change = {"changes": {"daily_budget_usd": "0.000001"}, "reason": "abuse"}
    preview = (await operator.post(f"{ROOT}/limits", {**change, "dry_run": True})).json()
    assert "from none to 0.000001" in preview["effects"][0]["text"]
    assert not any(item["changed"] for item in preview["items"])
    assert (await ada.submit()).status == 202
    changed = (await operator.post(f"{ROOT}/limits", change)).json()
    (item,) = [item for item in changed["items"] if item["changed"]]
    assert (item["name"], item["value"], item["configured"]) == ("daily_budget_usd", "0.000001", "none")
    assert (await ada.submit()).status == 402
    bad = await operator.post(f"{ROOT}/limits", {"changes": {"max_vms": "many"}})
    assert (bad.status, bad.json()["field"]) == (422, "changes.max_vms")
    assert "a whole number from 1" in bad.json()["detail"]
    unknown = await operator.post(f"{ROOT}/limits", {"changes": {"port": "80"}})
    assert (unknown.status, unknown.json()["field"]) == (422, "changes")
    few = await operator.post(f"{ROOT}/limits", {"changes": {"credits_usd": "0"}})
    assert few.status in {409, 422}
    entry = next(entry for entry in await _audit(operator) if entry["outcome"] == "DONE")
    assert (entry["actor"], entry["detail"], entry["action"]) == ("eve", "abuse", "limits.change")


@served()
async def test_keys_and_teams(harness: ApiHarness) -> None:
    """A key is created with its secret once, works, is listed without it, and is revoked."""
    operator = harness.user("eve", Role.OPERATOR)
    created = (await operator.post(f"{ROOT}/operators/keys", {"user": "ada", "team": "navy"})).json()
    ada = harness.client.with_key(created["secret"])
    assert (await ada.submit(accept="*/*")).events()[-1]["status"] == "CHECKED"
    listed = (await operator.get(f"{ROOT}/operators/keys")).json()["items"]
    assert created["secret"] not in str(listed)
    assert {key["user"] for key in listed} == {"eve", "ada"}
    (team,) = (await operator.get(f"{ROOT}/operators/teams")).json()["items"]
    assert (team["team"], team["members"]) == ("navy", ["ada"])
    assert team["spent_usd"] > 0
    revoke = f"{ROOT}/operators/keys/{created['id']}/revoke"
    assert (await operator.post(revoke)).status == 200
    assert (await operator.post(revoke)).status == 409
    assert (await ada.get(f"{ROOT}/vms")).status == 401
    own = next(key["id"] for key in listed if key["user"] == "eve")
    assert (await operator.post(f"{ROOT}/operators/keys/{own}/revoke")).status == 409
    assert (await operator.post(f"{ROOT}/operators/keys", {"user": "a b"})).json()["field"] == "user"
    above = await operator.post(f"{ROOT}/operators/keys", {"user": "mallory", "role": "admin"})
    assert (above.status, above.json()["code"]) == (403, "NOT_ALLOWED")
    assert [entry["action"] for entry in await _audit(operator)] == ["key.revoke", "key.create"]
    assert created["secret"] not in str(await _audit(operator))


@served()
async def test_an_operator_cancels_anyones_submission(harness: ApiHarness) -> None:
    """The owner's own cancellation is not an operator's action, and not in the log."""
    ada, operator = harness.user("ada"), harness.user("eve", Role.OPERATOR)
    first = (await ada.submit()).json()["id"]
    second = (await ada.submit()).json()["id"]
    (effect,) = (await operator.get(f"{ROOT}/submissions/{first}/actions")).json()["items"]
    assert effect["action"] == "submission.cancel"
    assert "Saves about $" in effect["text"]
    assert (await harness.user("bob").get(f"{ROOT}/submissions/{first}/actions")).status == 404
    assert (await operator.post(f"{ROOT}/submissions/{first}/cancel")).json()["verdict"] == "CANCELLED"
    assert (await ada.post(f"{ROOT}/submissions/{second}/cancel")).json()["verdict"] == "CANCELLED"
    (entry,) = await _audit(operator)
    assert (entry["action"], entry["subject"]) == ("submission.cancel", first)


@pytest.mark.parametrize("mode", ["queue", "refuse"])
def test_the_stream_reports_a_pause(mode: str) -> None:
    """The page learns about the intake without polling."""

    @served()
    async def run(harness: ApiHarness) -> None:
        stream = harness.client.begin("GET", f"{ROOT}/operations/stream")
        assert b'"intake":"open"' in (await stream.next_chunk() or b"")
        await harness.client.post(f"{ROOT}/intake/pause", {"mode": mode, "reason": "x"})
        assert f'"intake":"{mode}"'.encode() in (await stream.next_chunk() or b"")
        stream.gone.set()
        assert stream.task is not None
        await stream.task

    run()
