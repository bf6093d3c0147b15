"""The commands that use a server, against a real service with local VMs and real kernels."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.services import REHEARSAL, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "leaky_relu.hip"
CHECK = ("submit", EXAMPLE, "-p", "leaky-relu", "--endpoint", "checker")

#: Runs until the time limit.
ENDLESS = """
#include <hip/hip_runtime.h>
__global__ void spin(volatile float* output) { while (output[0] != 42.0f) {} }
extern "C" void solution(const float*, float, float* output, size_t, size_t) { spin<<<1, 1>>>(output); }
"""


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("state"), **REHEARSAL) as service:
        yield service


def events(text: str) -> list[dict[str, Any]]:
    """Parse stdout as one event per line."""
    return [json.loads(line) for line in text.splitlines()]


def test_the_second_submission_finds_the_vm_warm(service: Service) -> None:
    """The first submission is a cold start, the second a warm reuse."""
    first, second = service.run(*CHECK), service.run(*CHECK)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "no VM is warm" in first.stdout
    assert "new VM" in first.stdout
    assert "warm VM" in second.stdout
    assert "no VM is warm" not in second.stdout
    assert re.search(r"^CHECKED, after .* s, cost simulated \$0\.0", second.stdout, re.MULTILINE)


def test_a_detached_submission_is_followed_later(service: Service) -> None:
    """`logs` finds a submission by its id or by a prefix of it."""
    detached = service.run(*CHECK, "--detach")
    (submission_id,) = detached.stdout.split()
    followed = service.run("logs", "-f", submission_id.removeprefix("sub_")[:12], "--json")
    assert [event["id"] for event in events(followed.stdout)] == list(
        range(1, len(events(followed.stdout)) + 1)
    )
    assert events(followed.stdout)[-1]["status"] == "CHECKED"
    assert submission_id in service.run("ps", "--all").stdout
    assert "CHECKED" in service.run("logs", submission_id).stdout


def test_a_submission_that_never_ends_is_stopped(service: Service, tmp_path: Path) -> None:
    """`stop` returns the verdict; a second `stop` changes nothing."""
    (tmp_path / "endless.hip").write_text(ENDLESS)
    endless = service.run("submit", tmp_path / "endless.hip", "-p", "leaky-relu", "-d").stdout.strip()
    assert endless in service.run("ps").stdout
    for _ in range(2):
        stopped = service.run("stop", endless)
        assert (stopped.returncode, stopped.stdout) == (0, f"{endless}  CANCELLED\n"), stopped.stderr
    assert "CANCELLED" in service.run("logs", endless).stdout
    assert endless not in service.run("ps").stdout


def test_a_compile_error_needs_no_vm(service: Service, tmp_path: Path) -> None:
    """The X-ray reports the author's line; no VM is provisioned, and the exit code is 1."""
    (tmp_path / "broken.hip").write_text("broken\n")
    done = service.run("submit", tmp_path / "broken.hip", "-p", "relu", "--json")
    assert done.returncode == 1
    statuses = [event["status"] for event in events(done.stdout)]
    assert statuses == ["IN_QUEUE", "XRAY", "COMPILE_ERROR"]
    assert "broken.hip:1" in events(done.stdout)[-1]["message"]


def test_a_rejected_request_is_a_usage_error(service: Service) -> None:
    """An unknown problem, GPU or dtype exits with code 2 and lists the allowed values."""
    for options, allowed in (
        (("-p", "nothing"), "leaky-relu"),
        (("-p", "relu", "--gpu", "H100"), "MI300X"),
        (("-p", "relu", "--dtype", "int8"), "float16"),
    ):
        refused = service.run("submit", EXAMPLE, *options)
        assert refused.returncode == 2
        assert allowed in refused.stderr


def test_costs_vms_and_metrics_agree(service: Service) -> None:
    """VMs, costs and metrics show the same figures as text and as JSON."""
    service.run(*CHECK)
    metrics = json.loads(service.run("metrics", "--json").stdout)
    assert set(metrics) == {
        "total_cost_usd",
        "remaining_credits_usd",
        "credits_used_pct",
        "tasks_completed",
        "cold_starts",
        "warm_reuses",
        "active_vms",
    }
    assert metrics["cold_starts"] >= 1
    costs = json.loads(service.run("cost", "--json").stdout)
    assert costs["simulated"] is True
    assert {row["meter"] for row in costs["by_meter"]} >= {"PROVISIONING", "WORK"}
    machines = json.loads(service.run("vms", "--all", "--json").stdout)
    assert sum(vm["tasks_done"] for vm in machines) >= 1
    assert "PROVISIONING  █" in service.run("cost").stdout.replace("▏", "█")
    assert "cold starts" in service.run("metrics").stdout
    assert machines[0]["id"] in service.run("vms", "--all").stdout


def test_following_survives_a_crash_of_the_service(tmp_path: Path) -> None:
    """After `kill -9` in mid-stream and a restart, the same client has received every event once."""
    command = [sys.executable, "-m", "warmfront", "submit", str(EXAMPLE), "-p", "leaky-relu", "--json"]
    seen = []
    with (
        serving(tmp_path, **{**REHEARSAL, "WARMFRONT_BENCH_BUDGET": "2"}) as service,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=service.environment) as follower,
    ):
        assert follower.stdout is not None
        for line in follower.stdout:
            seen.append(json.loads(line))
            if seen[-1]["status"] == "VM_READY":
                service.kill()
                service.start()
        assert follower.wait(timeout=60) == 0, seen[-1]
    assert seen[-1]["status"] == "ACCEPTED"
    assert [event["id"] for event in seen] == list(range(1, len(seen) + 1))


def test_keys_take_effect_while_the_service_runs(tmp_path: Path) -> None:
    """After the first key is created, requests without a key are rejected, and so are revoked keys."""
    with serving(tmp_path, **REHEARSAL) as service:
        assert service.run("ps").returncode == 0
        made = json.loads(service.run("keys", "create", "--user", "ann", "--json").stdout)
        without = service.run("ps")
        assert without.returncode == 2
        assert "API key" in without.stderr
        assert service.run("ps", WARMFRONT_API_KEY=made["secret"]).returncode == 0
        everyone = service.run("ps", "--everyone", WARMFRONT_API_KEY=made["secret"])
        assert everyone.returncode == 2
        service.run("keys", "create", "--user", "olga", "--role", "operator")
        assert service.run("keys", "revoke", made["id"]).returncode == 0
        revoked = service.run("ps", WARMFRONT_API_KEY=made["secret"])
        assert revoked.returncode == 2
        assert "revoked" in revoked.stderr


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_sdk_page_runs(service: Service) -> None:
    """All Python blocks of docs/sdk.md run as one program."""
    program = "\n".join(blocks("sdk.md", "python"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=service.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "ACCEPTED" in done.stdout
    assert "['relu CHECKED', 'softmax CHECKED', 'cumsum CHECKED']" in done.stdout


def test_the_command_line_page_runs(tmp_path: Path) -> None:
    """All shell blocks of docs/command-line.md run in order in one shell."""
    with serving(tmp_path, **REHEARSAL) as service:
        script = "set -e\n" + "\n".join(blocks("command-line.md", "sh"))
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=ROOT,
            env={**service.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ACCEPTED") >= 2
    assert "wf_" in done.stdout
