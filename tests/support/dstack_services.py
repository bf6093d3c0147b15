"""A real service whose VMs come from a real dstack server, with a simulated cloud behind that."""

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
    from collections.abc import Iterator

    from tests.dstack.harness import Stack

ENDLESS = (ROOT / "tests" / "corpus" / "attacks" / "endless_kernel.hip").read_text()
#: Right, and in every call so slow that its benchmark takes seconds: time enough for things to happen.
DROWSY = EXAMPLE.replace("#include <hip/hip_runtime.h>", "#include <hip/hip_runtime.h>\n#include <unistd.h>")
DROWSY = DROWSY.replace("const size_t count = n * m;", "const size_t count = n * m;\n    usleep(150000);")
#: Ends as little as the endless one, and leaves the processor to others.
ASLEEP = """\
#include <hip/hip_runtime.h>
#include <unistd.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { pause(); }
"""
#: For the end of all VMs: dstack, on a busy machine, takes its time with three.
_PATIENCE_S = 300.0


class User:
    """Someone with a key."""

    def __init__(self, service: Service, name: str) -> None:
        self._url = f"{service.url}/api/amd"
        key = service.run("keys", "create", "--user", name, "--role", "operator").stdout.strip()
        self._headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}

    def submit(self, **fields: Any) -> str:
        """Submit without waiting; the id."""
        body = {
            "solution_code": EXAMPLE,
            "problem": "leaky-relu",
            **fields,
        }
        answer = self._ask("POST", "/submit", json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def follow(self, submission_id: str) -> Iterator[dict[str, Any]]:
        """The events as they come."""
        address = f"{self._url}/submissions/{submission_id}/events"
        headers = {**self._headers, "Accept": "text/event-stream"}
        with httpx.stream("GET", address, headers=headers, timeout=PROMPT_S) as answer:
            assert answer.status_code == 200
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))

    def judged(self, **fields: Any) -> list[dict[str, Any]]:
        """Submit, and wait for the verdict; every event."""
        return list(self.follow(self.submit(**fields)))

    def cancel(self, submission_id: str) -> dict[str, Any]:
        """Cancel it; the submission as it is then."""
        answer = self._ask("POST", f"/submissions/{submission_id}/cancel")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def vms(self) -> list[dict[str, Any]]:
        """Every VM."""
        return list(self._ask("GET", "/vms").json()["items"])

    def vms_alive(self) -> list[dict[str, Any]]:
        """Those that are not over."""
        return [vm for vm in self.vms() if vm["state"] not in {"TERMINATED", "FAILED"}]

    def spent_usd(self) -> Decimal:
        """What the ledger says."""
        return Decimal(str(self._ask("GET", "/costs").json()["total_usd"]))

    def wait_until_no_vm_is_alive(self) -> list[dict[str, Any]]:
        """Wait until all VMs are over; the VMs."""
        deadline = time.monotonic() + _PATIENCE_S
        while alive := self.vms_alive():
            assert time.monotonic() < deadline, alive
            time.sleep(0.1)  # the end of a VM is nothing that the API can be asked to wait for
        return self.vms()

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, f"{self._url}{path}", headers=self._headers, timeout=PROMPT_S, **options)


@contextmanager
def at_home() -> Iterator[Path]:
    """A folder for a stack, whose home is ours. Its path is short: ssh makes sockets below it."""
    with tempfile.TemporaryDirectory(prefix="wf") as name, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", f"{name}/home")
        yield Path(name)


@contextmanager
def serving_dstack(stack: Stack, data_dir: Path, **environment: str) -> Iterator[Service]:
    """A service on a fleet of its own, which is deleted afterwards."""
    data_dir.mkdir(exist_ok=True)
    fleet = f"kernels-{secrets.token_hex(4)}"
    stack.apply_fleet(fleet, nodes="0..3")
    service = Service(
        data_dir,
        **{
            "HOME": str(stack.server.home),
            "WARMFRONT_PROVIDER": "dstack",
            "DSTACK_SERVER_URL": stack.server.url,
            "DSTACK_TOKEN": stack.server.token,
            "DSTACK_PROJECT": stack.server.project,
            "AMD_FLEET_NAME": fleet,
            "AMD_FLEET_MAX_NODES": "3",
            "WARMFRONT_HEARTBEAT": "0.5",
            "WARMFRONT_LOST_AFTER": "5",
            "WARMFRONT_BENCH_BUDGET": "0.5",
            "WARMFRONT_BUG_FINDER": "false",
            **environment,
        },
    )
    service.start()
    try:
        yield service
        stack.remove_fleet(fleet)
    except BaseException:
        print("\n".join(line for line in service.lines if "warmfront.access" not in line))
        raise
    finally:
        service.stop()


def vm_of(events: list[dict[str, Any]]) -> list[str]:
    """The VMs that a submission was on, in order."""
    return [event["vm_id"] for event in events if event["status"] == "VM_READY"]
