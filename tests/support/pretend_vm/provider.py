"""A provider that leases pretend VMs: the worker task runs as with dstack, in a container of the machine."""

from __future__ import annotations

import asyncio
import contextlib
import io
import tarfile
import time
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.support.fake_cloud import network
from warmfront.errors import ProviderError
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.providers.dstack import listener_bundle
from warmfront.providers.dstack.configuration import DOCKER_SOCKET, LISTENER_PORT, VM_FOLDER, worker_task
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tests.support.pretend_vm.machine import PretendMachine
    from warmfront.providers.ownership import ForeignVM
    from warmfront.settings import Settings

#: Where dstack unpacks the files of a task, and runs its commands.
WORKING_DIR = "/workflow"
_POLL_S = 0.2


@dataclass(kw_only=True)
class PretendVM:
    """A worker task on the machine."""

    lease: Lease
    container: str = ""
    tunnel: asyncio.Server | None = None


@dataclass(kw_only=True, eq=False)
class PretendProvider:
    """A `Provider` of VMs on one machine. Only one of them can listen at a time."""

    machine: PretendMachine
    settings: Settings
    folder: Path  #: for the sockets of tunnels
    #: The socket of the Docker daemon that a task gets; a test sets another one to break it.
    docker_socket: str = DOCKER_SOCKET
    #: What listeners must report; by default the toolchain that the task names.
    leased_toolchain: str = ""
    vms: dict[str, PretendVM] = field(default_factory=dict)

    name = "pretend"
    simulated = False
    vms_outlive_service = True
    foreign_vms: Sequence[ForeignVM] = ()
    max_vms: int | None = None

    def __post_init__(self) -> None:
        self.toolchain: str | None = self.leased_toolchain or self.settings.worker_toolchain
        self._docker = connect(self.machine.docker_url)

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:  # noqa: ARG002 - all are alike
        """Return the price of an MI300X."""
        return Billing(rate_usd_per_h=Decimal("1.99"))

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - all are alike
        """Return how long a container takes to start."""
        return 5.0

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:  # noqa: ARG002 - all are alike
        """Return one GPU per VM."""
        return (1,)

    def slots(self, gpu: str, gpu_count: int = 1) -> int:  # noqa: ARG002 - all are alike
        """Return one, as dstack's provider."""
        return 1

    async def check_ready(self, gpu: str) -> None:
        """Do nothing: this machine is always ready."""

    async def provision(
        self,
        vm_id: str,
        gpu: str,
        token: str,
        *,
        gpu_count: int = 1,  # noqa: ARG002 - always one
    ) -> AsyncIterator[Lease]:
        """Start the worker task and wait until its listener accepts connections."""
        lease = Lease(vm_id=vm_id, phase=Phase.STARTING, gpu=gpu, started_at=time.time())
        vm = self.vms[vm_id] = PretendVM(lease=lease)
        yield lease
        vm.container = await asyncio.to_thread(self._start, vm_id, gpu, token)
        while not await self._accepts_connections():
            state = await asyncio.to_thread(self._docker.inspect_container, vm.container)
            if not state["State"]["Running"]:
                raise ProviderError(f"The worker failed ({self.output(vm_id).strip().splitlines()[-1:]}).")
            await asyncio.sleep(_POLL_S)
        socket = self.folder / vm_id
        vm.tunnel = await asyncio.start_unix_server(self._carry, socket)
        vm.lease = replace(vm.lease, phase=Phase.READY, address=f"unix:{socket}")
        yield vm.lease

    async def release(self, vm_id: str) -> Lease:
        """Remove the container."""
        vm = self.vms.get(vm_id)
        if vm is None:
            return Lease(vm_id=vm_id, phase=Phase.ENDED, ended_at=time.time())
        if vm.lease.phase is not Phase.ENDED:
            if vm.tunnel is not None:
                vm.tunnel.close()
            if vm.container:
                await asyncio.to_thread(self._docker.remove_container, vm.container, force=True, v=True)
            vm.lease = replace(vm.lease, phase=Phase.ENDED, ended_at=time.time(), address=None)
        return vm.lease

    def end_command(self, machine_id: str | None) -> str:  # noqa: ARG002 - see below
        """Return a note instead of a command, because the machine has no name."""
        return "end its container"

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the lease."""
        vm = self.vms.get(vm_id)
        return vm.lease if vm else None

    async def leases(self) -> list[Lease]:
        """Return the leases that have not ended."""
        return [vm.lease for vm in self.vms.values() if vm.lease.phase is not Phase.ENDED]

    async def close(self) -> None:
        """Close the connection to the Docker daemon."""
        self._docker.close()

    def output(self, vm_id: str) -> str:
        """Return the output of the worker task."""
        return str(self._docker.logs(self.vms[vm_id].container).decode(errors="replace"))

    def boxes(self) -> list[str]:
        """Return the containers that are not a worker task."""
        workers = {vm.container for vm in self.vms.values()}
        return [one["Id"] for one in self._docker.containers(all=True) if one["Id"] not in workers]

    async def _accepts_connections(self) -> bool:
        with contextlib.suppress(OSError):
            (await network.connect(self.machine.pid, LISTENER_PORT)).close()
            return True
        return False

    def _start(self, vm_id: str, gpu: str, token: str) -> str:
        bundle = listener_bundle.pack_for_upload(self.settings.cache_dir)
        task = worker_task(
            self.settings,
            vm_id=vm_id,
            gpu=gpu,
            token=token,
            listener=listener_bundle.LISTENER,
            files=[f"{bundle}:{listener_bundle.FOLDER}"],
        )
        container = str(self._docker.create_container(**self._container(task))["Id"])
        self._docker.put_archive(container, "/", _archive(bundle))
        self._docker.start(container)
        return container

    def _container(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return the container of a task with the options of dstack's agent on an AMD VM."""
        volumes = dict(volume.split(":") for volume in task["volumes"])
        volumes[self.docker_socket] = volumes.pop(DOCKER_SOCKET)
        assert VM_FOLDER in volumes
        devices = [f"/dev/{name}:/dev/{name}:rwm" for name in ("kfd", "dri") if self.machine.has(name)]
        return {
            "image": task["image"],
            "user": task["user"],
            "working_dir": WORKING_DIR,
            "entrypoint": ["/bin/sh", "-i", "-c"],
            "command": [" && ".join(command.strip() for command in task["commands"])],
            "environment": task["env"],
            "host_config": self._docker.create_host_config(
                network_mode="host",
                ipc_mode="host",
                cap_add=["SYS_PTRACE"],
                security_opt=["seccomp=unconfined"],
                devices=devices,
                binds=[
                    *(f"{host}:{inside}" for host, inside in volumes.items()),
                    # dstack does not mount these: the driver's files, which only a machine with a GPU has.
                    f"{self.machine.sysfs}:/sys",
                    f"{self.machine.rocm_version}:/opt/rocm/.info/version",
                ],
            ),
        }

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward a connection into the VM's network, as dstack's tunnel does."""
        try:
            connection = await network.connect(self.machine.pid, LISTENER_PORT)
        except OSError:
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection(sock=connection)
        await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


def _archive(bundle: Path) -> bytes:
    """Return the delivered folder as an archive, under the name that the task declares."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(bundle, arcname=f"{WORKING_DIR.lstrip('/')}/{listener_bundle.FOLDER}")
    return buffer.getvalue()
