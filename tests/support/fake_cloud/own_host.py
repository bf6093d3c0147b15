"""Answers to the commands of dstack's server on a host of an SSH fleet; nothing is executed.

The server adds keys, uploads files, installs the shim as a service and reads its facts about the host.
Only the keys and the start of the shim have an effect.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.support.fake_cloud.runner import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_KEY = re.compile(r"(?:ssh-(?:rsa|ed25519)|ecdsa-\S+) [A-Za-z0-9+/]+=*")


class HostSetup:
    """The answers of one host to the commands of dstack's server."""

    def __init__(self, folder: Path, *, gpus: int, start_shim: Callable[[], None]) -> None:
        self.uploads = folder / "uploads"
        self.uploads.mkdir()
        (self.uploads / "tmp").mkdir()
        self.keys: list[str] = []  #: that were added
        self.has_shim = False
        self._gpus = gpus
        self._start_shim = start_shim

    async def answer(self, command: str) -> tuple[int, str]:
        """Return the exit code and the output of a command."""
        if command == "uname -m":
            return 0, "x86_64\n"
        if "authorized_keys" in command:
            self.keys += _KEY.findall(command)
        elif "systemctl restart" in command:
            self.has_shim = True
            self._start_shim()
        elif "/api/healthcheck" in command:
            health = {"service": "dstack-shim", "version": VERSION}
            return 0, json.dumps(health) if self.has_shim else ""
        elif "cat " in command and "host_info.json" in command:
            return 0, json.dumps(self._host_info())
        return 0, ""

    def _host_info(self) -> dict[str, object]:
        return {
            "gpu_vendor": "amd",
            "gpu_name": "MI300X",
            "gpu_memory": 192 * 1024,
            "gpu_count": self._gpus,
            "addresses": [],
            "disk_size": 720 << 30,
            "cpus": 20,
            "memory": 240 << 30,
        }
