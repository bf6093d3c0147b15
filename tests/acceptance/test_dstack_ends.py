"""The end of a VM that the cloud refuses to delete, with a real service, a real dstack server and a bill."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import open_stack, until
from tests.support.dstack_services import User, dstack_service, temporary_home, vms_of
from tests.support.fake_cloud import amd_developer_cloud
from warmfront.money.billing import CENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.dstack.harness import Stack

pytestmark = [pytest.mark.dstack, pytest.mark.slow]

_STOP_LAG_S = 5.0


@pytest.fixture(name="stack")
def _stack() -> Iterator[Stack]:
    with temporary_home() as folder, open_stack(folder) as stack:
        yield stack


@contextmanager
def webhook(now: Callable[[], float]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Run a webhook; yield its address and the alerts that it has received, with the time in `at`."""
    received: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            received.append({**json.loads(self.rfile.read(length)), "at": now()})
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/alerts", received
        finally:
            server.shutdown()
            thread.join()


def confirming(stack: Stack, **changes: str) -> dict[str, str]:
    """Return the settings of a service that may read the cloud's list."""
    return {
        **stack.cloud.environment,
        "WARMFRONT_AMDDEVCLOUD_READ_KEY": amd_developer_cloud.KEY,
        "AMD_VM_IDLE_TIMEOUT": "1",
        "WARMFRONT_STOP_LAG": str(_STOP_LAG_S),
        **changes,
    }


def test_a_vm_that_the_cloud_will_not_delete(stack: Stack, tmp_path: Path) -> None:
    """The operator is alerted in time, and the ledger continues, even after a crash, until it is deleted.

    "In time" means within the stop lag of the first deletion that the cloud refuses, by the cloud's clock:
    the service counts from its own request, which dstack passes on later.
    """
    with (
        webhook(stack.cloud.now) as (url, alerts),
        dstack_service(stack, tmp_path, **confirming(stack, WARMFRONT_ALERT_WEBHOOK=url)) as service,
    ):
        user = User(service, "alice")
        stack.cloud.switches.broken["DELETE"] = 500
        assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
        until(lambda: alerts)
        (droplet,) = stack.cloud.droplets
        (vm,) = user.vms()
        (alert,) = alerts
        assert (alert["event"], alert["vm_id"], alert["rate_usd_per_h"]) == ("VM_NOT_ENDED", vm["id"], 1.99)
        assert alert["command"].endswith(f"/v2/droplets/{droplet}")
        assert (vm["state"], vm["machine_id"]) == ("SHUTTING_DOWN", f"amddevcloud/{droplet}")
        assert alert["command"] in vm["reason"]
        until(lambda: "DELETE" in stack.cloud.refused_at)
        assert alert["at"] - stack.cloud.refused_at["DELETE"] <= _STOP_LAG_S
        # dstack gives up, and says that the VM has ended.
        until(lambda: "Failed all attempts to terminate instance" in stack.server.log.read_text())
        service.kill()
        service.start()
        spent_usd = user.spent_usd()
        until(lambda: user.spent_usd() > spent_usd)
        assert [vm["state"] for vm in user.vms()] == ["SHUTTING_DOWN"]
        stack.cloud.vanish(droplet)
        (vm,) = user.wait_until_all_vms_ended()
        assert (vm["state"], vm["end_confirmed"]) == ("TERMINATED", True)
        billed_usd = Decimal(str(stack.cloud.billed(droplet).cost_usd()))
        assert abs(user.spent_usd() - billed_usd) < CENT
        assert len(alerts) == 1
        stack.cloud.switches.reset()


def test_a_lossy_network_and_clocks_that_differ(stack: Stack, tmp_path: Path) -> None:
    """The verdict is right, and the ledger equals the bill, although the cloud's clock is minutes ahead."""
    switches = stack.cloud.switches
    switches.packet_loss, switches.latency_s = 0.1, 0.02
    switches.clock_skew_s, switches.vm_clock_skew_s = 300.0, -300.0
    with dstack_service(stack, tmp_path, **confirming(stack, WARMFRONT_LOST_AFTER="120")) as service:
        user = User(service, "alice")
        events = user.submit_and_wait()
        assert events[-1]["status"] == "ACCEPTED"
        assert len(vms_of(events)) == 1
        (vm,) = user.wait_until_all_vms_ended()
        assert (vm["state"], vm["end_confirmed"]) == ("TERMINATED", True)
        (entry,) = stack.cloud.bill()
        assert abs(user.spent_usd() - Decimal(str(entry.cost_usd()))) < CENT / 2
        # The ledger has its own clock.
        assert entry.started_at - datetime.fromisoformat(vm["started_at"]).timestamp() > 200


def test_a_backend_that_was_removed(stack: Stack, tmp_path: Path) -> None:
    """A server without the backend reports an end that did not happen; the cloud's list shows this."""
    with dstack_service(stack, tmp_path, **confirming(stack, AMD_VM_IDLE_TIMEOUT="60")) as service:
        user = User(service, "alice")
        assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
        stack.server.restart_without("amddevcloud")
        until(lambda: "still billed" in user.vms()[0]["reason"])
        (droplet,) = stack.cloud.droplets
        assert f"/v2/droplets/{droplet}" in user.vms()[0]["reason"]
        stack.cloud.vanish(droplet)
        (vm,) = user.wait_until_all_vms_ended()
        assert vm["end_confirmed"] is True
        billed_usd = Decimal(str(stack.cloud.billed(droplet).cost_usd()))
        assert abs(user.spent_usd() - billed_usd) < CENT


def test_an_end_that_only_dstack_reports_is_unconfirmed(stack: Stack, tmp_path: Path) -> None:
    """With a key that is configured later, the VM is found, and its ledger is reopened."""
    fleet = {"AMD_FLEET_NAME": "confirmed-later"}
    stack.cloud.switches.broken["DELETE"] = 500
    with dstack_service(stack, tmp_path, AMD_VM_IDLE_TIMEOUT="1", **fleet) as service:
        user = User(service, "alice")
        assert user.submit_and_wait()[-1]["status"] == "ACCEPTED"
        (vm,) = user.wait_until_all_vms_ended()
        assert vm["end_confirmed"] is False
        (droplet,) = stack.cloud.droplets
        assert user.spent_usd() < Decimal(str(stack.cloud.billed(droplet).cost_usd()))
    with dstack_service(stack, tmp_path, **confirming(stack, **fleet)) as service:
        user = User(service, "bob")
        until(lambda: f"/v2/droplets/{droplet}" in user.vms()[0]["reason"])
        stack.cloud.vanish(droplet)
        (vm,) = user.wait_until_all_vms_ended()
        assert vm["end_confirmed"] is True
        billed_usd = Decimal(str(stack.cloud.billed(droplet).cost_usd()))
        assert abs(user.spent_usd() - billed_usd) < CENT
        stack.cloud.switches.reset()
