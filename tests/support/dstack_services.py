"""A real service that uses a real dstack server with the fake cloud behind it."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.services import EXAMPLE, PROMPT_S, ROOT, Service

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.dstack.harness import Stack

ENDLESS = (ROOT / "tests" / "corpus" / "attacks" / "endless_kernel.hip").read_text()
#: Correct, but each call is slow, so that its benchmark takes seconds.
SLOW = EXAMPLE.replace("#include <hip/hip_runtime.h>", "#include <hip/hip_runtime.h>\n#include <unistd.h>")
SLOW = SLOW.replace("const size_t count = n * m;", "const size_t count = n * m;\n    usleep(150000);")
#: The fake cloud has no images: the commands of a task run on this machine.
IMAGE = f"registry.example/warmfront-vm:1@sha256:{'0' * 64}"
#: Never ends, like ENDLESS, but uses no CPU time.
SLEEPING = """\
#include <hip/hip_runtime.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { pause(); }
"""
#: Limit for the end of all VMs; on a busy machine dstack is slow.
_TIMEOUT_S = 900.0


class User:
    """A user with an API key."""

    def __init__(self, service: Service, name: str) -> None:
        self._url = f"{service.url}/api/amd"
        self.key = service.run("keys", "create", "--user", name, "--role", "operator").stdout.strip()
        self._headers = {"Authorization": f"Bearer {self.key}", "Accept": "application/json"}

    def submit(self, **fields: Any) -> str:
        """Submit without waiting and return the submission's id."""
        body = {
            "solution_code": EXAMPLE,
            "problem": "leaky-relu",
            **fields,
        }
        response = self._request("POST", "/submit", json=body)
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    def follow(self, submission_id: str) -> Iterator[dict[str, Any]]:
        """Yield the submission's events as they arrive."""
        address = f"{self._url}/submissions/{submission_id}/events"
        headers = {**self._headers, "Accept": "text/event-stream"}
        with httpx.stream("GET", address, headers=headers, timeout=PROMPT_S) as response:
            assert response.status_code == 200
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def submit_and_wait(self, **fields: Any) -> list[dict[str, Any]]:
        """Submit, wait for the verdict and return all events."""
        return list(self.follow(self.submit(**fields)))

    def cancel(self, submission_id: str) -> dict[str, Any]:
        """Cancel a submission and return it."""
        response = self._request("POST", f"/submissions/{submission_id}/cancel")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def provisioning_problems(self) -> list[dict[str, Any]]:
        """Return why no VMs are provisioned."""
        return list(self._request("GET", "/provisioning").json()["problems"])

    def vms(self) -> list[dict[str, Any]]:
        """Return all VMs."""
        return list(self._request("GET", "/vms").json()["items"])

    def foreign_vms(self) -> list[dict[str, Any]]:
        """Return the VMs of other services that this one knows of."""
        return list(self._request("GET", "/vms").json()["foreign"])

    def vms_alive(self) -> list[dict[str, Any]]:
        """Return the VMs that have not ended."""
        return [vm for vm in self.vms() if vm["state"] not in {"TERMINATED", "FAILED"}]

    def spent_usd(self) -> Decimal:
        """Return the total of the ledger."""
        return Decimal(str(self._request("GET", "/costs").json()["total_usd"]))

    def wait_until_all_vms_ended(self) -> list[dict[str, Any]]:
        """Wait until all VMs have ended, and return them."""
        deadline = time.monotonic() + _TIMEOUT_S
        while alive := self.vms_alive():
            assert time.monotonic() < deadline, alive
            time.sleep(0.1)  # the API has no event for the end of a VM
        return self.vms()

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, f"{self._url}{path}", headers=self._headers, timeout=PROMPT_S, **options)


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Create a directory for a stack and set HOME in it. Its path is short: ssh creates sockets there."""
    with tempfile.TemporaryDirectory(prefix="wf") as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{name}/home")
        yield Path(name)


@contextmanager
def dstack_service(
    stack: Stack,
    data_dir: Path,
    *,
    nodes: str = "0..3",
    backends: Sequence[str] = ("amddevcloud",),
    **environment: str,
) -> Iterator[Service]:
    """Run a service with its own fleet, which is deleted afterwards."""
    data_dir.mkdir(exist_ok=True, parents=True)
    fleet = environment.get("AMD_FLEET_NAME", f"kernels-{secrets.token_hex(4)}")
    if fleet not in stack.fleets():
        stack.apply_fleet(fleet, nodes=nodes, backends=list(backends), spot_policy="auto")
    service = Service(
        data_dir,
        **{
            "HOME": str(stack.server.home),
            "WARMFRONT_PROVIDER": "dstack",
            "DSTACK_SERVER_URL": stack.server.url,
            "DSTACK_TOKEN": stack.server.token,
            "DSTACK_PROJECT": stack.server.project,
            "AMD_FLEET_NAME": fleet,
            "WARMFRONT_WORKER_IMAGE": IMAGE,
            "AMD_FLEET_MAX_NODES": "3",
            "WARMFRONT_HEARTBEAT": "0.5",
            "WARMFRONT_LOST_AFTER": "5",
            "WARMFRONT_BENCH_BUDGET": "0.5",
            "WARMFRONT_BUG_FINDER": "false",
            "WARMFRONT_WORKER_TOOLCHAIN": "cpu",
            **environment,
        },
    )
    service.start()
    try:
        yield service
        if fleet in stack.fleets():  # two services may share it
            stack.remove_fleet(fleet)
    except BaseException:
        print("\n".join(line for line in service.lines if "warmfront.access" not in line))
        raise
    finally:
        service.stop()


def vms_of(events: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the VMs that a submission ran on, in order."""
    return [event["vm_id"] for event in events if event["status"] == "VM_READY"]
