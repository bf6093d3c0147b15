"""Tunnels through real SSH connections: one per VM, concurrent, and not affected by a VM that is lost."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import asyncssh
import pytest

from warmfront.errors import DstackFailed
from warmfront.providers.dstack.resources import DstackRun
from warmfront.providers.dstack.ssh_tunnel import (
    SSHHop,
    SSHRoute,
    check_ssh_route,
    check_ssh_server,
    open_ssh_tunnel,
)
from warmfront.providers.dstack.tunnels import ListenerTunnels

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from warmfront.providers.dstack.ssh_tunnel import SSHTunnel

KEY = asyncssh.generate_private_key("ssh-ed25519")
OTHER_KEY = asyncssh.generate_private_key("ssh-ed25519")


@dataclass(kw_only=True)
class Host:
    """An SSH server on loopback that forwards ports, and a server behind it that answers every line."""

    ssh_port: int
    echo_port: int
    connections: int = 0

    def route(self, key: asyncssh.SSHKey = KEY, *, hops: int = 1) -> SSHRoute:
        """Return the route to the host, through itself if there is more than one hop."""
        hop = SSHHop(host="127.0.0.1", port=self.ssh_port, user="root")
        return SSHRoute(hops=(hop,) * hops, private_key=key.export_private_key().decode())


class ForwardingServer(asyncssh.SSHServer):
    """Accepts one key and forwards to any port."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Count the connections."""
        del conn
        self._host.connections += 1

    def public_key_auth_supported(self) -> bool:
        """Return whether keys are accepted."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether it is the known key."""
        return username == "root" and key.public_data == KEY.public_data

    def connection_requested(self, *_: Any) -> bool:
        """Allow every forwarding."""
        return True


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while line := await reader.readline():
            writer.write(b"you sent " + line)
    finally:
        writer.close()


@asynccontextmanager
async def running_host() -> AsyncIterator[Host]:
    """Run a host."""
    echo = await asyncio.start_server(_answer, "127.0.0.1", 0)
    host = Host(ssh_port=0, echo_port=echo.sockets[0].getsockname()[1])
    ssh = await asyncssh.listen(
        "127.0.0.1", 0, server_host_keys=[OTHER_KEY], server_factory=lambda: ForwardingServer(host)
    )
    host.ssh_port = ssh.get_port()
    try:
        yield host
    finally:
        ssh.close()
        await ssh.wait_closed()
        echo.close()
        await echo.wait_closed()


async def ask(tunnel: SSHTunnel, line: bytes) -> bytes:
    """Send a line through a new connection, and return the answer."""
    reader, writer = await asyncio.open_unix_connection(str(tunnel.socket))
    writer.write(line)
    answer = await reader.readline()
    writer.close()
    return answer


def with_host(scenario: Callable[[Host], Awaitable[None]]) -> None:
    """Run a scenario with a host."""

    async def run() -> None:
        async with asyncio.timeout(120), running_host() as host:
            await scenario(host)

    asyncio.run(run())


@pytest.mark.parametrize("hops", [1, 2])
def test_requests_share_one_connection(tmp_path: Path, hops: int) -> None:
    """Concurrent connections to the socket are channels of one SSH connection per hop."""

    async def scenario(host: Host) -> None:
        folder = tmp_path / ("long" * 30)  # longer than a socket's path may be
        tunnel = await open_ssh_tunnel(
            host.route(hops=hops), port=host.echo_port, socket=tmp_path / "a" / "vm.sock"
        )
        lines = [f"{number}\n".encode() for number in range(20)]
        assert await asyncio.gather(*(ask(tunnel, line) for line in lines)) == [
            b"you sent " + line for line in lines
        ]
        assert host.connections == hops
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
        long = await open_ssh_tunnel(host.route(), port=host.echo_port, socket=folder / "vm.sock")
        assert long.socket.is_socket()
        tunnel.close()
        long.close()
        assert not tunnel.socket.exists()
        assert not tunnel.is_open

    with_host(scenario)


def test_jump_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key for a jump host is the operator's own, and its host key must be known."""
    monkeypatch.setenv("HOME", str(tmp_path))
    key_file = tmp_path / "jump-key"
    KEY.write_private_key(key_file)

    async def scenario(host: Host) -> None:
        jump = SSHHop(host="127.0.0.1", port=host.ssh_port, user="root", is_dstack_host=False)
        target = SSHHop(host="127.0.0.1", port=host.ssh_port, user="root")
        private_key = KEY.export_private_key().decode()
        route = SSHRoute(hops=(jump, target), private_key=private_key, jump_key=key_file)
        with pytest.raises(DstackFailed, match="Host key is not trusted"):
            await check_ssh_route(route)
        with pytest.raises(DstackFailed, match="Host key is not trusted"):
            await check_ssh_server(target, jump=jump, jump_key=key_file)
        known = tmp_path / ".ssh" / "known_hosts"
        known.parent.mkdir()
        known.write_text(f"[127.0.0.1]:{host.ssh_port} {OTHER_KEY.export_public_key().decode()}")
        await check_ssh_route(route)
        await check_ssh_server(target, jump=jump, jump_key=key_file)
        nothing = SSHHop(host="127.0.0.1", port=1, user="root")
        with pytest.raises(DstackFailed, match=r"root@127\.0\.0\.1:1: "):
            await check_ssh_server(nothing, jump=jump, jump_key=key_file)

    with_host(scenario)


def test_rejected_key(tmp_path: Path) -> None:
    """The error names the host; no socket is left."""

    async def scenario(host: Host) -> None:
        with pytest.raises(DstackFailed, match=f"root@127.0.0.1:{host.ssh_port}: Permission denied"):
            await open_ssh_tunnel(host.route(OTHER_KEY), port=host.echo_port, socket=tmp_path / "vm.sock")
        assert not (tmp_path / "vm.sock").exists()

    with_host(scenario)


def test_later_process_takes_over_the_socket(tmp_path: Path) -> None:
    """The tunnel of a process that was replaced does not remove the socket of its successor."""

    async def scenario(host: Host) -> None:
        path = tmp_path / "vm.sock"
        old = await open_ssh_tunnel(host.route(), port=host.echo_port, socket=path)
        new = await open_ssh_tunnel(host.route(), port=host.echo_port, socket=path)
        assert (old.is_open, new.is_open) == (False, True)
        old.close()
        assert await ask(new, b"here?\n") == b"you sent here?\n"
        new.close()

    with_host(scenario)


class KeyClient:
    """The only method of a dstack client that tunnels use."""

    async def private_key(self, run: DstackRun) -> str:
        """Return the key, which is the same for all runs."""
        del run
        return KEY.export_private_key().decode()


def test_lost_vms_do_not_delay_others(tmp_path: Path) -> None:
    """While connections to VMs that do not respond are opened, others are opened and probed."""

    async def scenario(host: Host) -> None:
        accepted: list[asyncio.StreamWriter] = []
        silent = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
        tunnels = ListenerTunnels(KeyClient(), tmp_path)  # type: ignore[arg-type]  # has what is called
        lost = [
            asyncio.create_task(tunnels.open(a_run(f"lost-{number}", silent.sockets[0].getsockname()[1])))
            for number in range(8)
        ]
        await asyncio.sleep(0)
        assert len(tunnels._opening) == len(lost)
        runs = [a_run(f"vm-{number}", host.ssh_port) for number in range(8)]
        while not all(tunnels.known_address(run.name) for run in runs):  # on a busy machine more than once
            await asyncio.gather(*map(tunnels.open, runs))
        assert not any(tunnels.known_address(f"lost-{number}") for number in range(8))
        await tunnels.open(a_run("vm-0", host.ssh_port), probe=True)
        assert host.connections == 8  # it works, so it was not opened again
        for task in lost:
            task.cancel()
        await tunnels.close_all()
        silent.close()
        for writer in accepted:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    with_host(scenario)
    assert not list(tmp_path.iterdir())


def a_run(name: str, ssh_port: int) -> DstackRun:
    """Return a run on a VM with this SSH port."""
    return DstackRun(
        id=name,
        name=name,
        status="running",
        status_message="",
        termination_reason=None,
        error=None,
        fleet=None,
        submitted_at=0.0,
        cost_usd=0,  # type: ignore[arg-type]  # not used
        ssh_hops=(SSHHop(host="127.0.0.1", port=ssh_port, user="root"),),
    )
