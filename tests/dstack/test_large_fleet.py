"""A service with several VMs that is killed three times: no submission is lost, and no VM is left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bench import fleet as bench_fleet
from tests.dstack.harness import SCALE, open_stack
from tests.support.dstack_services import temporary_home
from tests.support.fake_cloud import Switches
from tests.support.large_fleet import LargeFleet
from tests.support.request_counter import RequestCounter

#: The benchmark's scenario, with its assertions, fewer VMs and a faster dstack server.
VMS = 6


@pytest.mark.slow
def test_crashes_with_several_vms(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All submissions get their verdicts, on as many VMs as there are places, and all VMs end."""
    monkeypatch.setattr(bench_fleet, "STEADY_S", 5.0)
    with (
        temporary_home() as folder,
        tempfile.TemporaryDirectory() as data,
        open_stack(folder, scale=SCALE, switches=Switches(light_attempt_s=0.05)) as stack,
        RequestCounter(stack.server.url) as counter,
    ):
        fleet = LargeFleet(stack, counter, Path(data), vms=VMS)
        try:
            bench_fleet.measure(fleet, counter)
        finally:
            fleet.service.stop()
        assert len(stack.cloud.bill()) == VMS
    assert (
        f"three crashes: {5 * VMS + 3} submissions, none lost; {VMS} VMs, none left"
        in capsys.readouterr().out
    )
