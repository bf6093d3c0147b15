"""The commands that use a service, against a real one with local VMs and real kernels."""

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

#: A kernel that runs until its time limit.
ENDLESS = """
#include <hip/hip_runtime.h>
__global__ void spin(volatile float* output) { while (output[0] != 42.0f) {} }
extern "C" void solution(const float*, float, float* output, size_t, size_t) { spin<<<1, 1>>>(output); }
"""


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    # A kernel that never ends must still be running when a busy machine cancels it.
    patient = {"WARMFRONT_CASE_TIMEOUT": "500", "WARMFRONT_RUN_TIMEOUT": "500"}
    with serving(tmp_path_factory.mktemp("state"), **REHEARSAL, **patient) as service:
        yield service


def events(text: str) -> list[dict[str, Any]]:
    """Parse stdout as one event per line."""
    return [json.loads(line) for line in text.splitlines()]


def test_the_second_submission_finds_the_vm_warm(service: Service) -> None:
    """The first submission waits for a VM to be provisioned; the second reuses it."""
    first, second = service.run(*CHECK), service.run(*CHECK)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "no warm VM" in first.stdout
    assert "new VM" in first.stdout
    assert "warm VM" in second.stdout
    assert "no warm VM" not in second.stdout
    assert re.search(r"^CHECKED, after .* s, cost simulated \$0\.0", second.stdout, re.MULTILINE)


def test_a_detached_submission_is_followed_later(service: Service) -> None:
    """A prefix of the id is enough to follow it."""
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
    """`stop` prints the verdict; calling it again changes nothing."""
    (tmp_path / "endless.hip").write_text(ENDLESS)
    endless = service.run("submit", tmp_path / "endless.hip", "-p", "leaky-relu", "-d").stdout.strip()
    assert endless in service.run("ps").stdout
    for _ in range(2):
        stopped = service.run("stop", endless)
        assert (stopped.returncode, stopped.stdout) == (0, f"{endless}  CANCELLED\n"), stopped.stderr
    assert "CANCELLED" in service.run("logs", endless).stdout
    assert endless not in service.run("ps").stdout


def test_a_receipt_of_the_service_is_verified_elsewhere(service: Service, tmp_path: Path) -> None:
    """`submit --receipt` and `receipt` save the same file, which is valid with the server's keys."""
    saved, downloaded = tmp_path / "saved.json", tmp_path / "downloaded.json"
    accepted = service.run("submit", EXAMPLE, "-p", "leaky-relu", "--receipt", saved)
    assert accepted.returncode == 0, accepted.stdout + accepted.stderr
    body = json.loads(saved.read_bytes())["body"]
    assert service.run("receipt", body["submission_id"], "-o", downloaded).returncode == 0
    assert downloaded.read_bytes() == saved.read_bytes()
    elsewhere = {**service.environment, "WARMFRONT_DATA_DIR": str(tmp_path / "elsewhere")}
    command = [sys.executable, "-m", "warmfront", "verify", str(saved), "--source", str(EXAMPLE)]
    unknown = subprocess.run(command, env=elsewhere, capture_output=True, text=True, check=False)
    assert (unknown.returncode, "not known here" in unknown.stdout) == (1, True)
    valid = subprocess.run(
        [*command, "--server", service.url], env=elsewhere, capture_output=True, text=True, check=False
    )
    assert valid.returncode == 0, valid.stdout + valid.stderr
    assert f"known from the server {service.url}" in valid.stdout


def test_a_scratch_kernel_is_launched_on_a_vm(service: Service, tmp_path: Path) -> None:
    """The launch is a submission: it is followed, its buffers are shown, and it can be detached."""
    file = tmp_path / "double.hip"
    file.write_text(
        "#include <hip/hip_runtime.h>\n__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n"
    )
    launch = ("launch", file, "--server", "--block", "4", "--arg", "x=4:0.5,1")
    shown = service.run(*launch)
    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "x: 4 of type float\n     0: 1 2 1 2\n" in shown.stdout
    assert "cost simulated $" in shown.stdout
    detached = service.run(*launch, "--detach")
    followed = service.run("logs", "-f", detached.stdout.strip(), "--json")
    assert events(followed.stdout)[-1]["buffers"][0]["values"] == [1.0, 2.0, 1.0, 2.0]
    refused = service.run("launch", file, "--arg", "x=4", "--detach")
    assert (refused.returncode, "need --server" in refused.stderr) == (2, True)


def test_a_compile_error_needs_no_vm(service: Service, tmp_path: Path) -> None:
    """The X-ray rejects it: the message quotes the line, and the exit code is 1."""
    (tmp_path / "broken.hip").write_text("broken\n")
    done = service.run("submit", tmp_path / "broken.hip", "-p", "relu", "--json")
    assert done.returncode == 1
    statuses = [event["status"] for event in events(done.stdout)]
    assert statuses == ["IN_QUEUE", "XRAY", "COMPILE_ERROR"]
    assert "broken.hip:1" in events(done.stdout)[-1]["message"]


def test_a_request_that_the_service_rejects_is_a_usage_error(service: Service) -> None:
    """For an unknown problem, GPU or dtype the exit code is 2, and the error lists what is allowed."""
    for options, allowed in (
        (("-p", "nothing"), "leaky-relu"),
        (("-p", "relu", "--gpu", "H100"), "MI300X"),
        (("-p", "relu", "--dtype", "int8"), "float16"),
    ):
        rejected = service.run("submit", EXAMPLE, *options)
        assert rejected.returncode == 2
        assert allowed in rejected.stderr


def test_vms_costs_and_metrics(service: Service) -> None:
    """`vms`, `cost` and `metrics` print the same figures as text and as JSON."""
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
    listed_vms = json.loads(service.run("vms", "--all", "--json").stdout)
    assert sum(vm["tasks_done"] for vm in listed_vms) >= 1
    # The length of a bar depends on how long the VM worked.
    assert re.search("PROVISIONING +[▏▎▍▌▋▊▉█]", service.run("cost").stdout)
    assert "cold starts" in service.run("metrics").stdout
    assert listed_vms[0]["id"] in service.run("vms", "--all").stdout


def test_submit_survives_a_crash_of_the_service(tmp_path: Path) -> None:
    """After `kill -9` and a restart of the service, the same process receives every event exactly once."""
    command = [sys.executable, "-m", "warmfront", "submit", str(EXAMPLE), "-p", "leaky-relu", "--json"]
    received = []
    with (
        serving(tmp_path, **{**REHEARSAL, "WARMFRONT_BENCH_BUDGET": "2"}) as service,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=service.environment) as follower,
    ):
        assert follower.stdout is not None
        for line in follower.stdout:
            received.append(json.loads(line))
            if received[-1]["status"] == "VM_READY":
                service.kill()
                service.start()
        assert follower.wait(timeout=600) == 0, json.dumps(received[-1])
    assert received[-1]["status"] == "ACCEPTED"
    assert [event["id"] for event in received] == list(range(1, len(received) + 1))


def test_api_keys_take_effect_in_a_running_service(tmp_path: Path) -> None:
    """Once there is a key, every request needs one; a revoked key is rejected."""
    with serving(tmp_path, **REHEARSAL) as service:
        assert service.run("ps").returncode == 0
        created = json.loads(service.run("keys", "create", "--user", "ann", "--json").stdout)
        without = service.run("ps")
        assert without.returncode == 2
        assert "API key" in without.stderr
        assert service.run("ps", WARMFRONT_API_KEY=created["secret"]).returncode == 0
        everyone = service.run("ps", "--everyone", WARMFRONT_API_KEY=created["secret"])
        assert everyone.returncode == 2
        service.run("keys", "create", "--user", "olga", "--role", "operator")
        assert service.run("keys", "revoke", created["id"]).returncode == 0
        revoked = service.run("ps", WARMFRONT_API_KEY=created["secret"])
        assert revoked.returncode == 2
        assert "revoked" in revoked.stderr


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in a language."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_sdk_page_run(service: Service) -> None:
    """All Python blocks of docs/sdk.md run as one program."""
    program = "\n".join(blocks("sdk.md", "python"))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=service.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "ACCEPTED" in done.stdout
    assert "['relu CHECKED', 'softmax CHECKED', 'cumsum CHECKED']" in done.stdout


def test_the_commands_of_the_command_line_page_run(tmp_path: Path) -> None:
    """All shell blocks of docs/command-line.md run in one shell that stops at the first failure."""
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
            timeout=600,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ACCEPTED") >= 2
    assert "wf_" in done.stdout
