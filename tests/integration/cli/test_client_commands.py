"""The commands that use a server, against a stub service with prepared events."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.stub_service import Part, StubService, events_of
from warmfront.cli import manage_keys, server_reports, submit_and_follow
from warmfront.cli.formatting import duration
from warmfront.cli.server_reports import bar
from warmfront.client import Costs

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[3] / "examples" / "leaky_relu.hip"
ACCEPTED = {"simulated": True, "cost_usd": 0.0331, "avg_runtime_ms": 1.5, "avg_ci": [1.47, 1.53]}


def cold_start() -> list[dict[str, Any]]:
    """Return the events of a submission that needs a new VM."""
    stream = events_of("IN_QUEUE", "PROVISIONING", "VM_READY", "COMPILING", "ACCEPTED", **ACCEPTED)
    stream[0].update(position=0, quote={"vm_state": "COLD_START", "wait_s": 60.0, "cost_usd": 0.0331})
    stream[1].update(vm_state="COLD_START", vm_id="vm_1", phase="booting", elapsed_s=0.0, eta_s=60.0)
    stream[2].update(vm_id="vm_1", vm_state="COLD_START", gpu="MI300X", simulated=True, attempt=1)
    stream[3].update(compiler="g++ 12", toolchain="cpu", sandbox="docker")
    return stream


@pytest.fixture(name="stub")
def _stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubService]:
    with StubService(cold_start()) as stub:
        monkeypatch.setenv("WARMFRONT_URL", stub.url)
        yield stub


def submit(*, detach: bool = False, as_json: bool = False, **options: Any) -> int:
    """Run `warmfront submit` with the example."""
    arguments = {
        "file": EXAMPLE,
        "problem": "leaky-relu",
        "endpoint": "submit",
        "dtype": None,
        "gpu_type": None,
        **options,
    }
    return submit_and_follow.submit(
        submit_and_follow.SubmitOptions(**arguments), detach=detach, as_json=as_json
    )


def started(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Start the command as a process."""
    return subprocess.Popen([sys.executable, "-m", "warmfront", *map(str, arguments)], text=True, **options)


def test_a_cold_start_is_shown_from_queue_to_cost(
    stub: StubService, capsys: pytest.CaptureFixture[str]
) -> None:
    """The quote, the provisioning, the VM and the cost are printed."""
    assert submit() == 0
    shown = capsys.readouterr().out
    assert "a VM must be provisioned, starts in about 60 s, costs about $0.0331" in shown
    assert "provisioning vm_1, ready in about 60 s" in shown
    assert "new VM vm_1 (MI300X, simulated)" in shown
    time = "1.500 ms (95% interval 1.470 to 1.530) of simulated CPU time"
    assert f"ACCEPTED, {time}, after 0.00 s, cost simulated $0.0331" in shown


def test_a_noisy_time_is_labeled(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """The wide interval is printed, and the label; the note of each case has the reason."""
    stub.events[-1].update(noisy=True, avg_ci=[0.9, 2.6])
    submit()
    shown = capsys.readouterr().out
    assert "ACCEPTED, 1.5 ms (95% interval 0.9 to 2.6) of simulated CPU time, noisy, after" in shown


def test_times_of_a_stub_gpu_are_not_called_cpu_time(
    stub: StubService, capsys: pytest.CaptureFixture[str]
) -> None:
    """They come from its model and its virtual clock."""
    stub.events[3]["toolchain"] = "stub"
    submit()
    shown = capsys.readouterr().out
    assert "1.500 ms (95% interval 1.470 to 1.530) of virtual time of a stub GPU, after" in shown
    assert "CPU time" not in shown


def test_hidden_cases_are_counted(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary of the check says how many of the cases are hidden."""
    passed = {"test_id": 1, "name": "hidden-1", "status": "PASSED", "hidden": True}
    stub.events = events_of(
        "CHECKED", simulated=True, test_results=[passed], passed_tests=1, total_tests=1, output=""
    )
    submit(endpoint="checker")
    assert "1/1 cases passed, 1 of them hidden, in" in capsys.readouterr().out


def test_a_warm_reuse_is_shown_as_warm(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """A warm reuse is distinguished from a cold start."""
    stub.events[2]["vm_state"] = "WARM_REUSE"
    submit()
    assert "warm VM vm_1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "code"),
    [("WRONG_ANSWER", 1), ("COMPILE_ERROR", 1), ("CANCELLED", 3), ("BUDGET_EXCEEDED", 3), ("ERROR", 3)],
)
def test_the_exit_code_depends_on_the_verdict(stub: StubService, status: str, code: int) -> None:
    """As for `warmfront run`: 1 if the kernel was rejected, 3 if it was not judged."""
    stub.events = events_of("IN_QUEUE", status, code=status, message="because", hint="")
    assert submit() == code


def test_nan_and_infinity_are_shown(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """NaN and infinity, which arrive as strings, are printed in the table."""
    sample = {"index": [0, 3], "expected": 1.5, "actual": "nan", "difference": "nan", "inputs": {"x": "-inf"}}
    info = {"max_difference": "inf", "mean_difference": "nan", "sample_differences": [sample]}
    stub.events = events_of(
        "WRONG_ANSWER", code="WRONG_OUTPUT", message="off", hint="look", debug_info=info, details={}
    )
    assert submit() == 1
    shown = capsys.readouterr().out
    assert "largest difference inf, mean nan" in shown
    assert "0, 3" in shown
    assert "-inf" in shown


def test_json_events_carry_the_submission_id(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """Stdout has one event per line and nothing else."""
    assert submit(as_json=True) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["submission_id"], line["id"]) for line in lines] == [("sub_1", n) for n in range(1, 6)]


def test_detached_only_the_id_is_printed(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """With --detach, the id alone is printed, and no event stream is requested."""
    assert submit(detach=True) == 0
    assert capsys.readouterr().out == "sub_1\n"
    assert stub.resumed_from() == []


def test_the_file_name_is_sent(stub: StubService, tmp_path: Path) -> None:
    """Characters that the service rejects are replaced, so that any file can be submitted."""
    odd = tmp_path / "-odd (näme).hip"
    odd.write_text("code")
    submit(file=odd, detach=True)
    assert json.loads(stub.requests[0][3])["file_name"] == "_odd _n_me_.hip"


@pytest.mark.parametrize("options", [{"endpoint": "rank"}, {"file": Path("missing.hip")}])
def test_a_usage_error_is_reported_before_any_request(
    stub: StubService, capsys: pytest.CaptureFixture[str], options: dict[str, Any]
) -> None:
    """The exit code is 2, stderr has a hint, and no request was sent."""
    assert submit(**options) == 2
    assert "→" in capsys.readouterr().err
    assert not stub.requests


def test_an_error_of_the_service_is_printed_with_its_hint(
    stub: StubService, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message and the hint of the service's error are printed."""
    body = {"code": "BAD_REQUEST", "detail": "There is no problem 'x'.", "hint": "Did you mean y?"}
    stub.refusals.append((422, json.dumps(body).encode()))
    assert submit() == 2
    assert capsys.readouterr().err == "warmfront: There is no problem 'x'.\n  → Did you mean y?\n"


def test_ctrl_c_detaches(stub: StubService) -> None:
    """The submission is not cancelled, the exit code is 130, and the hint shows how to follow it again."""
    stub.parts.append(Part(count=2, holds=True))
    process = started("submit", EXAMPLE, "-p", "leaky-relu", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert any("provisioning vm_1" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "warmfront logs -f sub_1" in stderr
    assert "Traceback" not in stderr
    assert not [path for _, path, *_ in stub.requests if path.endswith("/cancel")]


def test_the_remaining_time_is_updated_on_a_terminal(stub: StubService) -> None:
    """While a VM is provisioned and no event arrives, the progress bar is redrawn."""
    stub.events[1]["eta_s"] = 0.5
    stub.parts.append(Part(count=2, holds=True))
    ours, theirs = pty.openpty()
    process = started("submit", EXAMPLE, "-p", "leaky-relu", stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = ""
    while "almost ready" not in output:
        output += os.read(ours, 4096).decode(errors="replace")
    assert re.search(r"VM booting ░{20} about [01] s left", output)
    drawn = {len(bar) for bar in re.findall(r"VM booting (█*)░*", output)}
    assert len(drawn) > 2
    stub.release.set()
    drain(ours)
    assert process.wait(timeout=600) == 0
    os.close(ours)


def drain(terminal: int) -> None:
    """Read the rest, so that the writer does not block; on Linux the end is reported as an error."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass


def test_logs_stop_at_the_latest_event(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """Without -f, the events of an unfinished submission are shown, though its stream stays open."""
    running = {**stub.record("sub_1"), "state": "RUNNING", "verdict": None, "last_event_id": 3}
    stub.records = {"sub_1": running}
    stub.parts.append(Part(count=3, holds=True))
    assert submit_and_follow.logs("sub_1", follow=False, as_json=False) == 0
    shown = capsys.readouterr()
    assert "new VM vm_1" in shown.out
    assert "warmfront logs -f sub_1" in shown.err


def test_followed_logs_end_with_the_verdict(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """With -f, the stream is read to the end, even after the connection was lost."""
    stub.parts.append(Part(count=2))
    assert submit_and_follow.logs("sub_1", follow=True, as_json=False) == 0
    assert "ACCEPTED" in capsys.readouterr().out


@pytest.fixture(name="listed")
def _listed(stub: StubService) -> StubService:
    for name, state in (("sub_aa1", "RUNNING"), ("sub_ab2", "DONE"), ("sub_b3", "QUEUED")):
        verdict = "ACCEPTED" if state == "DONE" else None
        stub.records[name] = {**stub.record(name), "state": state, "verdict": verdict}
    return stub


def test_ps_lists_unfinished_submissions(listed: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """Finished ones are listed with -a; ids are not truncated."""
    assert server_reports.ps(finished=False, everyone=False, as_json=False) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {"ID", "sub_aa1", "sub_b3"}
    assert server_reports.ps(finished=True, everyone=False, as_json=True) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3


def test_an_id_may_be_given_by_a_prefix(listed: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """A unique prefix is enough, with or without the `sub_` that all ids share."""
    for prefix in ("sub_b", "b3"):
        assert submit_and_follow.logs(prefix, follow=True, as_json=False) == 0
        assert "sub_b3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("prefix", "message"), [("sub_a", "a prefix of 2 ids"), ("zz", "no submission 'zz'")]
)
def test_an_unknown_or_ambiguous_prefix_is_rejected(
    listed: StubService, capsys: pytest.CaptureFixture[str], prefix: str, message: str
) -> None:
    """Nothing is cancelled by mistake."""
    assert server_reports.stop(prefix, yes=False, as_json=False) == 2
    assert message in capsys.readouterr().err
    assert not [path for _, path, *_ in listed.requests if path.endswith("/cancel")]


def test_errors_are_json_with_json_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json, errors are printed as JSON on stdout too."""
    monkeypatch.setenv("WARMFRONT_URL", "http://127.0.0.1:9")
    assert server_reports.vms(finished=False, as_json=True) == 3
    assert json.loads(capsys.readouterr().out)["code"] == "SERVER_UNREACHABLE"


def test_the_cost_of_a_cpu_node_is_real(stub: StubService, capsys: pytest.CaptureFixture[str]) -> None:
    """Its results are simulated, so the view must not call its cost simulated, too."""
    stub.events[2]["gpu"] = "CPU"
    assert submit() == 0
    shown = capsys.readouterr().out
    assert "new VM vm_1 (CPU node, simulated)" in shown
    assert ", cost $0.0331" in shown


def test_costs_are_shown_as_bars() -> None:
    """The largest amount has the full bar, half of it half the bar, and a cent is still visible."""
    costs = {
        "simulated": True,
        "credits_usd": 1400.0,
        "total_usd": 7.0,
        "reserved_usd": 0.66,
        "remaining_usd": 1393.0,
        "by_day": [{"day": "2026-11-14", "cost_usd": 4.0}, {"day": "2026-11-15", "cost_usd": 2.0}],
        "by_meter": [{"meter": "WORK", "cost_usd": 6.99}, {"meter": "IDLE", "cost_usd": 0.01}],
        "by_vm": [],
        "today": {"user": "local", "spent_usd": 2.0, "limit_usd": None},
        "audit": None,
        "forecast": None,
        "cpu_nodes": {
            "seconds": 7200.0,
            "cost_usd": 0.2,
            "gpu_type": "MI300X",
            "gpu_usd": 3.98,
            "saved_usd": 3.78,
        },
    }
    lines = list(server_reports.cost_lines(Costs.model_validate(costs)))
    assert "0.5% of the credits, in simulated dollars" in lines[0]
    assert lines[4].startswith(
        "CPU nodes: 2.00 h for $0.2000; the same time on VMs with an MI300X would have"
    )
    assert lines[4].endswith(" cost $3.9800: $3.7800 saved")
    bars = {line.split()[0]: line.count("█") for line in lines if "$" in line and line.startswith("  ")}
    assert bars == {"2026-11-14": 30, "2026-11-15": 15, "WORK": 30, "IDLE": 0}
    assert bar(Decimal("0.0001"))[0] == "▏"


def test_differences_from_the_providers_bill_are_listed() -> None:
    """A VM whose ledger differs from the provider's bill has a line with both amounts."""
    apart = {"vm_id": "vm_1", "ledger_usd": 1.9, "billed_usd": 1.99}
    totals = dict.fromkeys(("credits_usd", "total_usd", "reserved_usd", "remaining_usd"), 1.0)
    rows: dict[str, Any] = {"by_day": [], "by_meter": [], "by_vm": [], "forecast": None}
    rows["today"] = {"user": "local", "spent_usd": 1.0, "limit_usd": None}
    rows["audit"] = {"checked_at": 0.0, "vms": 1, "differences": [apart]}
    lines = list(server_reports.cost_lines(Costs.model_validate({**totals, **rows, "simulated": False})))
    assert lines[-1] == "  vm_1  provider $1.9900, ledger $1.9000"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (42, "42 s"), (185, "3 m 5 s"), (7200, "2 h"), (7800.4, "2 h 10 m"), (349200, "4 d 1 h")],
)
def test_durations_have_at_most_two_units(seconds: float, text: str) -> None:
    """Smaller units are dropped."""
    assert duration(seconds) == text


@pytest.fixture(name="data")
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARMFRONT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("WARMFRONT_DATABASE_URL", raising=False)
    return tmp_path


def test_a_secret_is_printed_once(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The secret is on stdout when the key is created, and neither in the list nor in the database."""
    assert manage_keys.create("ann", "operator", as_json=False) == 0
    secret = capsys.readouterr().out.strip()
    assert re.fullmatch(r"wf_[0-9a-f]+_[0-9a-f]{64}", secret)
    assert manage_keys.show_all(as_json=False) == 0
    shown = capsys.readouterr().out
    assert "ann" in shown
    assert "operator" in shown
    stored = b"".join(file.read_bytes() for file in data.iterdir() if file.is_file())
    assert secret.rpartition("_")[2].encode() not in stored
    assert secret.rpartition("_")[2] not in shown


def test_a_key_is_revoked_once(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A prefix of the id selects the key; revoking it again is an error."""
    manage_keys.create("ann", "user", as_json=True)
    created = json.loads(capsys.readouterr().out)
    assert manage_keys.revoke(created["id"][:5], as_json=False) == 0
    assert manage_keys.revoke(created["id"], as_json=False) == 2
    assert "already revoked" in capsys.readouterr().err
    manage_keys.show_all(as_json=True)
    assert json.loads(capsys.readouterr().out)[0]["revoked_at"] is not None


@pytest.mark.parametrize(
    ("user", "role"), [("", "user"), ("a b", "user"), ("x" * 65, "user"), ("ann", "root"), ("-x", "user")]
)
def test_an_invalid_user_or_role_is_rejected(
    data: Path, capsys: pytest.CaptureFixture[str], user: str, role: str
) -> None:
    """User names have a restricted alphabet and length; there are four roles."""
    assert manage_keys.create(user, role, as_json=False) == 2
    assert capsys.readouterr().out == ""


def test_a_key_may_belong_to_a_team(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The list shows the team; an invalid team name is rejected."""
    assert manage_keys.create("ann", "user", team="kernels", as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["team"] == "kernels"
    assert manage_keys.show_all(as_json=False) == 0
    assert "kernels" in capsys.readouterr().out
    assert manage_keys.create("ann", "user", team="two words", as_json=False) == 2
    assert "--team is 'two words'" in capsys.readouterr().err
