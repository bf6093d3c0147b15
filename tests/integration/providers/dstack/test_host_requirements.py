"""Missing requirements of SSH fleet hosts, detected through a real SSH connection and a real shell."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncssh

from warmfront import settings
from warmfront.providers.dstack.host_requirements import check_hosts

if TYPE_CHECKING:
    from pathlib import Path

KEY = asyncssh.generate_private_key("ssh-ed25519")


class HostServer(asyncssh.SSHServer):
    """Accepts one key."""

    def public_key_auth_supported(self) -> bool:
        """Return whether keys are accepted."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Return whether it is the known key."""
        return username == "root" and key.public_data == KEY.public_data


def problems_of_host(folder: Path, programs: dict[str, str], *, key: asyncssh.SSHKey = KEY) -> str:
    """Return the problems of a host that has only these programs, as shell scripts."""
    file = folder / "key"
    key.write_private_key(file)
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    async def run(process: asyncssh.SSHServerProcess[str]) -> None:
        shell = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", process.command or ""),
            env={"PATH": str(folder)},
            stdout=asyncio.subprocess.PIPE,
        )
        printed, _ = await shell.communicate()
        process.stdout.write(printed.decode())
        process.exit(shell.returncode or 0)

    async def check() -> dict[str, str]:
        server = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
            server_factory=HostServer,
            process_factory=run,
        )
        environ = {"AMD_FLEET_HOSTS": f"127.0.0.1:{server.get_port()}", "AMD_FLEET_SSH_KEY": str(file)}
        try:
            return await check_hosts(settings.load(environ, env_file=None))
        finally:
            server.close()
            await server.wait_closed()

    return asyncio.run(check()).get("127.0.0.1", "")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    """Each requirement is checked with the command that fails without it."""
    complete = {"sudo": 'shift; exec "$@"', "true": "", "docker": "", "curl": "", "systemctl": "", "test": ""}
    # This machine may not have an AMD GPU, and `test` is built into the shell.
    without_gpu = problems_of_host(tmp_path, complete).replace(
        "/dev/kfd does not exist: AMD's driver is not installed", ""
    )
    assert without_gpu == ""
    (tmp_path / "curl").unlink()
    refused = {"docker": "exit 1", "sudo": '[ "$2" != true ] && shift && exec "$@"'}
    problems = problems_of_host(tmp_path, refused)
    assert "its user may not use sudo without a password" in problems
    assert "Docker is not installed, or is not running" in problems
    assert "curl is not installed" in problems
    assert "systemd" not in problems


def test_a_host_that_rejects_the_key(tmp_path: Path) -> None:
    """The reason is the SSH server's own."""
    other = asyncssh.generate_private_key("ssh-ed25519")
    assert "Permission denied" in problems_of_host(tmp_path, {}, key=other)


def test_without_hosts_nothing_is_checked() -> None:
    """The VMs of a cloud do not exist yet."""
    assert asyncio.run(check_hosts(settings.load({}, env_file=None))) == {}
