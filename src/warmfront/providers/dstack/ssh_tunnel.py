"""A tunnel to one port of a run: one SSH connection of this process, and a UNIX socket in front of it.

All requests to a VM share its connection. Only the user of this process can connect to the socket. This
module does not depend on dstack or on the traffic in the tunnel.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any

from warmfront.errors import DstackFailed
from warmfront.listener.unix_socket import SCHEME, short_path
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

#: Timeouts for connecting to an SSH server, and for authenticating.
_CONNECT_TIMEOUT_S, _LOGIN_TIMEOUT_S = 10.0, 20.0
#: The time limit of a command that checks a host.
_COMMAND_TIMEOUT_S = 120.0
#: A connection without a response to this many keep-alive messages is closed.
_KEEPALIVE_S, _KEEPALIVES = 20.0, 3


@dataclass(frozen=True, kw_only=True)
class SSHHop:
    """An SSH server on the way to a run."""

    host: str
    port: int
    user: str
    #: Whether to use the key of dstack's user and accept any host key, because the VM is new. For a jump host
    #: of the operator, ssh's own configuration, keys and known hosts apply.
    is_dstack_host: bool = True


@dataclass(frozen=True, kw_only=True)
class SSHRoute:
    """The SSH servers to a run, each reached through the previous one; the last has the run's network."""

    hops: tuple[SSHHop, ...]
    private_key: str = field(repr=False)
    jump_key: Path | None = None  #: the file with the key for a jump host; None for ssh's own keys


class SSHTunnel:
    """An open tunnel; `open_ssh_tunnel` creates it."""

    def __init__(self, connections: list[Any], socket: Path, forwarder: Any) -> None:
        self.socket = socket
        self._connections = connections
        self._forwarder = forwarder
        self._inode = socket.stat().st_ino

    @property
    def address(self) -> str:
        """The address for the client of listeners."""
        return f"{SCHEME}{self.socket}"

    @property
    def is_open(self) -> bool:
        """Whether all connections are open and the socket is still ours. The VM itself is not checked."""
        return self._owns_socket() and not any(connection.is_closed() for connection in self._connections)

    def close(self) -> None:
        """Close the tunnel."""
        self._forwarder.close()
        if self._owns_socket():
            self.socket.unlink(missing_ok=True)
        for connection in reversed(self._connections):
            connection.abort()

    def _owns_socket(self) -> bool:
        """Return whether the socket is still ours. A later process may have replaced it."""
        with suppress(OSError):
            return self.socket.stat().st_ino == self._inode
        return False


async def open_ssh_tunnel(route: SSHRoute, *, port: int, socket: Path) -> SSHTunnel:
    """Connect, and forward the socket to a port of the run. An existing socket is replaced.

    Raises:
        DstackFailed: A server does not respond or rejects the key, or the socket cannot be created.
    """
    async with _connections(route) as connections:
        socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            path = stack.enter_context(short_path(socket))
            forwarder = await connections[-1].forward_local_path_to_port(path, "localhost", port)
        return SSHTunnel(connections, socket, forwarder)


async def check_ssh_route(route: SSHRoute) -> None:
    """Connect to the run's network, as a tunnel to it does, and disconnect.

    Raises:
        DstackFailed: A server does not respond or rejects the key.
    """
    async with _connections(route) as connections:
        for connection in reversed(connections):
            connection.abort()


async def run_ssh_command(route: SSHRoute, command: str) -> str:
    """Run a shell command on the last server of a route, and return its output.

    Raises:
        DstackFailed: A server does not respond or rejects the key, or the command does not end in time.
    """
    async with _connections(route) as connections:
        async with asyncio.timeout(_COMMAND_TIMEOUT_S):
            completed = await connections[-1].run(command, stdin="")
        for connection in reversed(connections):
            connection.abort()
        return str(completed.stdout)


async def check_ssh_server(hop: SSHHop, *, jump: SSHHop | None, jump_key: Path | None) -> None:
    """Check that an SSH server responds, without logging in to it.

    Args:
        hop: The server.
        jump: The jump host through which it is reached; None for a direct connection.
        jump_key: The file with the key for the jump host.

    Raises:
        DstackFailed: The server does not respond, or the jump host does not respond or rejects the key.
    """
    import asyncssh

    route = SSHRoute(hops=(jump,) if jump else (), private_key="", jump_key=jump_key)
    async with _connections(route) as connections:
        through = connections[-1] if connections else ()
        try:
            async with asyncio.timeout(_LOGIN_TIMEOUT_S):
                await asyncssh.get_server_host_key(hop.host, hop.port, tunnel=through, config=None)
        except (OSError, asyncssh.Error) as error:
            raise _failed(hop, error) from None
        finally:
            for connection in reversed(connections):
                connection.abort()


@asynccontextmanager
async def _connections(route: SSHRoute) -> AsyncIterator[list[Any]]:
    """Connect to each server of a route; disconnect if anything fails.

    Raises:
        DstackFailed: A server does not respond or rejects the key, or the block fails.
    """
    import asyncssh

    logging.getLogger("asyncssh").setLevel(logging.WARNING)  # it logs every connection and channel
    connections: list[Any] = []
    try:
        for hop in route.hops:
            connections.append(await _connect(hop, route, through=connections[-1] if connections else None))
        yield connections
    except BaseException as error:
        for connection in reversed(connections):
            connection.abort()
        if isinstance(error, (OSError, asyncssh.Error, ValueError)):
            raise _failed(route.hops[min(len(connections), len(route.hops) - 1)], error) from None
        raise


def _failed(hop: SSHHop, error: BaseException) -> DstackFailed:
    return DstackFailed(
        f"Cannot open an SSH connection to {hop.user}@{hop.host}:{hop.port}: "
        f"{_reason(error) or type(error).__name__}."
    )


async def _connect(hop: SSHHop, route: SSHRoute, *, through: Any) -> Any:
    import asyncssh

    options: dict[str, Any] = {
        "username": hop.user,
        "tunnel": through,
        "connect_timeout": _CONNECT_TIMEOUT_S,
        "login_timeout": _LOGIN_TIMEOUT_S,
        "keepalive_interval": _KEEPALIVE_S,
        "keepalive_count_max": _KEEPALIVES,
    }
    if hop.is_dstack_host:
        key = asyncssh.import_private_key(route.private_key)
        options |= {"client_keys": [key], "known_hosts": None, "config": None, "agent_path": None}
    elif route.jump_key is not None:
        options["client_keys"] = [str(route.jump_key)]
    return await asyncssh.connect(hop.host, hop.port, **options)


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")
