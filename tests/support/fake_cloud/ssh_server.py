"""The SSH servers of a VM and of its container: they check keys, forward ports, and report or run commands.

Callbacks decide where a forwarded port leads and how a command runs.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import asyncssh
from asyncssh.forward import SSHForwarder

from tests.support.fake_cloud.uninterrupted import start_or_close

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path
    from socket import socket

    Keys = Callable[[], Iterable[str]]
    Connect = Callable[[int], Awaitable[socket]]
    Execute = Callable[[str], Awaitable[tuple[int, str]]]


class SSHServer:
    """One SSH server."""

    def __init__(
        self,
        *,
        host_key: asyncssh.SSHKey,
        keys: Keys,
        connect: Connect,
        command: Callable[[str], None] | None = None,
        execute: Execute | None = None,
        uploads: Path | None = None,
    ) -> None:
        """Create a server.

        Args:
            host_key: its key.
            keys: returns the keys that it accepts.
            connect: opens a port.
            command: gets commands, which then succeed.
            execute: runs a command and returns its exit code and output.
            uploads: the folder for files that are uploaded; None: there are no uploads.
        """
        self._host_key = host_key
        self._keys = keys
        self._connect = connect
        self._command = command
        self._execute = execute
        self._uploads = uploads
        self._listener: asyncssh.SSHAcceptor | None = None
        self._open: set[asyncssh.SSHServerConnection] = set()

    async def start(self, address: str, port: int) -> int:
        """Start listening and return the port."""
        starting = asyncssh.listen(
            address,
            port,
            server_host_keys=[self._host_key],
            server_factory=lambda: _Session(self._keys, self._connect, self._open),
            process_factory=self._run if self._command or self._execute else None,
            sftp_factory=self._sftp if self._uploads else None,
        )
        self._listener = await start_or_close(starting, _close)
        return self._listener.get_port()

    async def close(self) -> None:
        """Stop listening and abort all connections, as if the machine were lost."""
        if self._listener is None:
            return
        self._listener.close()
        for connection in list(self._open):
            connection.abort()
        await self._listener.wait_closed()

    def _sftp(self, channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        return asyncssh.SFTPServer(channel, chroot=str(self._uploads).encode())

    async def _run(self, process: asyncssh.SSHServerProcess[str]) -> None:
        code = 0
        if self._command is not None:
            self._command(process.command or "")
        if self._execute is not None:
            code, output = await self._execute(process.command or "")
            process.stdout.write(output)
        process.exit(code)


class _Session(asyncssh.SSHServer):
    def __init__(self, keys: Keys, connect: Connect, open_: set[asyncssh.SSHServerConnection]) -> None:
        self._keys = keys
        self._connect = connect
        self._open = open_
        self._connection: asyncssh.SSHServerConnection | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._open.add(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._connection is not None:
            self._open.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        del username
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        del username
        return key.public_data in _public_data(self._keys())

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Awaitable[asyncssh.SSHTCPSession[bytes]]:
        del dest_host, orig_host, orig_port
        return cast("Awaitable[asyncssh.SSHTCPSession[bytes]]", self._forward(dest_port))

    async def _forward(self, port: int) -> SSHForwarder:
        try:
            connection = await self._connect(port)
        except OSError as error:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(error)) from error
        loop = asyncio.get_running_loop()
        _, peer = await loop.create_connection(SSHForwarder, sock=connection)
        return SSHForwarder(peer)


def _public_data(lines: Iterable[str]) -> set[bytes]:
    keys = set()
    for line in lines:
        with suppress(asyncssh.KeyImportError):
            keys.add(asyncssh.import_public_key(line).public_data)
    return keys


async def _close(listener: asyncssh.SSHAcceptor) -> None:
    listener.close()
    await listener.wait_closed()
