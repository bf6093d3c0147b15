"""A job without processes: a listener in the fake cloud's own process, whose judge only waits.

It is for a fleet of a hundred VMs on one small machine. The HTTP interface, the token and the registry of
attempts are the listener's own; there is no compiler, no box and no watchdog.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tests.support.fake_cloud.job import JobResult
from warmfront.events import CaseResult, Checked, Compiling
from warmfront.listener.app import ControlPlaneContact, ListenerService
from warmfront.listener.attempt_registry import AttemptRegistry
from warmfront.listener.vm_status import VMStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from tests.support.fake_cloud.switches import Switches
    from warmfront.events import Event
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest

_CASE = CaseResult(test_id=1, name="case 1", status="PASSED")


#: How often a held attempt checks whether it may end.
_POLL_S = 0.5


class WaitingJudge:
    """Accepts every attempt after a while, or when it is no longer held."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Yield the events of an attempt whose cases all passed."""
        del attempt
        yield Compiling(compiler="none", toolchain="cpu", sandbox="none")
        with run_slot:
            started = time.monotonic()
            while (left_s := started + (self._switches.light_attempt_s or 0.0) - time.monotonic()) > 0:
                if cancellation.is_cancelled:
                    break
                time.sleep(min(_POLL_S, left_s))
        yield Checked(test_results=(_CASE,), passed_tests=1, total_tests=1, simulated=True)


class LightJob:
    """One execution of a worker task, which is expected to start a listener."""

    def __init__(self, *, submission: Mapping[str, Any], switches: Switches) -> None:
        variables = submission["job_spec"].get("env") or {}
        status = VMStatus(toolchain="cpu", gpu=variables["WARMFRONT_GPU"], simulated=True)
        service = ListenerService(
            attempts=AttemptRegistry(WaitingJudge(switches)),
            contact=ControlPlaneContact(),
            status=lambda: status,
        )
        self._config = uvicorn.Config(
            service.app(variables["WARMFRONT_LISTENER_TOKEN"]),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
        self._config.load()
        self._state = ServerState()
        self._ended = asyncio.Event()

    async def run(self) -> JobResult:
        """Serve until the job is stopped, and return the result."""
        await self._ended.wait()
        return JobResult(state="terminated")

    def stop(self) -> None:
        """End the listener."""
        self._ended.set()
        for connection in list(self._state.connections):
            connection.shutdown()

    async def kill(self) -> None:
        """End the listener."""
        self.stop()

    async def connect(self, port: int) -> socket.socket:
        """Connect to the listener; the port is not used."""
        del port
        if self._ended.is_set():
            raise ConnectionRefusedError("The job does not run.")
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        theirs.settimeout(0)
        await asyncio.get_running_loop().connect_accepted_socket(self._connection, theirs)
        return ours

    def _connection(self) -> H11Protocol:
        return H11Protocol(config=self._config, server_state=self._state, app_state={})
