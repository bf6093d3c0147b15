"""The summary of `warmfront doctor` for a service whose VMs come from dstack."""

from __future__ import annotations

import pytest

from warmfront.cli import doctor
from warmfront.cli.doctor import DoctorCheck

LOCAL = [
    DoctorCheck(name="compiler in use", works=True, detail="g++"),
    DoctorCheck(name="sandbox bubblewrap", works=True, detail="bubblewrap"),
]


@pytest.mark.parametrize(
    ("fleet_works", "summary"),
    [
        (True, "VMs can be provisioned, as far as this can be checked without one."),
        (
            False,
            "VMs cannot be provisioned yet: see dstack fleet. Submissions to the service wait or fail.",
        ),
    ],
)
def test_the_summary_says_whether_vms_can_be_provisioned(
    *, fleet_works: bool, summary: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line and the exit code are about this machine alone."""
    cloud = [
        DoctorCheck(name="ssh", works=True, detail="asyncssh is installed", for_vms=True),
        DoctorCheck(name="dstack fleet", works=fleet_works, detail="the fleet", for_vms=True),
    ]
    monkeypatch.setattr(doctor, "run_checks", lambda: [*LOCAL, *cloud])
    assert doctor.report(as_json=False) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [summary, "This machine can judge kernels."]


def test_without_vms_there_is_no_such_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine that judges kernels itself needs no VMs."""
    monkeypatch.setattr(doctor, "run_checks", lambda: LOCAL)
    assert doctor.report(as_json=False) == 0
    assert "VMs" not in capsys.readouterr().out
