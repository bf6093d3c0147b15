"""The operators' commands against a real service with local VMs: actions, limits, and the audit log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.services import REHEARSAL, ROOT, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(name="service")
def _service(tmp_path: Path) -> Iterator[Service]:
    with serving(tmp_path, **REHEARSAL) as service:
        yield service


def test_an_operator_acts_and_the_log_says_who(service: Service) -> None:
    """Commands pin and drain a VM, change limits and pause the intake; the audit log has each action."""
    assert service.judged(endpoint="checker")[-1]["status"] == "CHECKED"
    vm_id = service.get("vms")["items"][0]["id"]
    unconfirmed = service.run("vm", "drain", vm_id)
    assert unconfirmed.returncode == 2
    assert "Saves up to $" in unconfirmed.stderr
    assert "--yes" in unconfirmed.stderr
    pinned = service.run("vm", "pin", vm_id.removeprefix("vm_")[:10], "--for", "2h", "--yes")
    assert (pinned.returncode, "pinned until" in pinned.stdout) == (0, True), pinned.stderr
    assert service.run("vm", "pin", vm_id, "--for", "soon", "--yes").returncode == 2
    changed = service.run("limits", "set", "max_vms=2", "idle_timeout_s=90", "--reason", "thrift", "--yes")
    assert changed.returncode == 0, changed.stderr
    assert "max_vms" in changed.stdout
    assert service.run("limits", "set", "max_vms=0", "--yes").returncode == 2
    paused = service.run("intake", "pause", "--mode", "refuse", "--reason", "New image.", "--yes")
    assert "New submissions are refused" in paused.stdout, paused.stderr
    refused = service.run("submit", ROOT / "examples" / "leaky_relu.hip", "-p", "leaky-relu")
    assert (refused.returncode, "New image." in refused.stderr) == (3, True), refused.stderr
    unconfirmed = service.run("intake", "resume")
    assert (unconfirmed.returncode, "costs nothing now" in unconfirmed.stderr) == (2, True)
    assert service.run("intake", "resume", "--yes").returncode == 0
    drained = service.run("vm", "drain", vm_id, "--yes", "--json")
    assert json.loads(drained.stdout)["id"] == vm_id
    service.wait_until_no_vm_is_alive()
    gone = service.run("vm", "drain", vm_id, "--yes")
    assert gone.returncode == 2
    assert f"VM {vm_id} ended at 20" in gone.stderr
    log = service.run("audit", "--json")
    actions = [(entry["action"], entry["actor"], entry["outcome"]) for entry in json.loads(log.stdout)][::-1]
    assert actions == [
        ("vm.pin", "local", "DONE"),
        ("limits.change", "local", "DONE"),
        ("intake.pause", "local", "DONE"),
        ("intake.resume", "local", "DONE"),
        ("vm.drain", "local", "DONE"),
    ]
    assert "idle_timeout_s: 600 → 90" in service.run("audit", "--action", "limits.change").stdout


def test_the_chain_is_checked_on_the_users_machine(service: Service) -> None:
    """The head of an earlier check must still be in the log."""
    assert service.run("limits", "set", "max_vms=2", "--yes").returncode == 0
    first = service.run("audit", "--check")
    assert first.returncode == 0, first.stderr
    assert "chain intact" in first.stdout
    head = first.stdout.split("head: ")[1].strip()
    assert service.run("keys", "create", "--user", "ada", "--role", "operator").returncode == 0
    secret = service.run("keys", "create", "--user", "eve", "--role", "operator").stdout.strip()
    key = {"WARMFRONT_API_KEY": secret}
    assert service.run("audit", "--check", "--head", head, **key).returncode == 0
    other = service.run("audit", "--check", "--head", f"1:{'0' * 64}", **key)
    assert other.returncode == 1
    assert "differs from the noted one" in other.stderr
    assert service.run("audit", "--check", "--head", f"999:{'0' * 64}", **key).returncode == 1
    assert "command line" in service.run("audit", "--action", "key.create", **key).stdout


def test_limits_and_pause_survive_a_restart(service: Service) -> None:
    """The limits that were set before are still in force."""
    secret = service.run("keys", "create", "--user", "olga", "--role", "operator").stdout.strip()
    key = {"WARMFRONT_API_KEY": secret}
    assert service.run("limits", "set", "max_vms=2", "idle_timeout_s=90", "--yes", **key).returncode == 0
    assert service.run("intake", "pause", "--reason", "Holiday.", "--yes", **key).returncode == 0
    service.stop()
    service.start()
    limits = json.loads(service.run("limits", "show", "--json", **key).stdout)["items"]
    assert {item["name"]: item["value"] for item in limits if item["changed"]} == {
        "max_vms": "2",
        "idle_timeout_s": "90",
    }
    assert "paused by olga: Holiday." in service.run("intake", "show", **key).stdout
    reset = service.run("limits", "reset", "max_vms", "idle_timeout_s", "--yes", "--json", **key)
    assert not any(item["changed"] for item in json.loads(reset.stdout)["items"])


def test_a_test_message_reaches_the_channel(service: Service) -> None:
    """Without a channel the command says how to configure one; the rules are listed."""
    secret = service.run("keys", "create", "--user", "olga", "--role", "operator").stdout.strip()
    key = {"WARMFRONT_API_KEY": secret}
    shown = service.run("alerts", **key)
    assert "WARMFRONT_ALERT_QUEUE_WAIT" in shown.stdout, shown.stderr
    assert "channels: none" in shown.stdout
    refused = service.run("alerts", "--test", **key)
    assert refused.returncode == 2
    assert "WARMFRONT_SMTP_URL" in refused.stderr
