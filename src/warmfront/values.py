"""Parsers for the text of settings and options: one function per kind of value.

Each raises `ValueError` for invalid text. The caller knows the name of the setting and reports it.
"""

from __future__ import annotations

import ipaddress
import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

#: The maximum number of VMs: high enough for every operator, and low enough to catch a typing error.
MAX_NODES = 1000
#: The most GPUs of one VM.
MAX_GPUS = 64
#: The maximum rate of interruptions of a spot VM; above it, no work would ever finish on one.
MAX_INTERRUPTIONS_PER_H = 60
#: The limits of a lock timeout: longer than a busy machine can delay a query, and short enough to be useful.
MIN_LOCK_TIMEOUT_S = 4
MAX_LOCK_TIMEOUT_S = 3600
#: The maximum value of an hour of waiting in dollars; more is probably a typing error.
MAX_WAIT_VALUE = 10_000

_SSH_ADDRESS = re.compile(
    r"(?:(?P<user>[A-Za-z_][A-Za-z0-9_.-]*)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>\d{1,5}))?"
)
_UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}


@dataclass(frozen=True, kw_only=True)
class SSHAddress:
    """The address of an SSH server."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{user}{host}{f':{self.port}' if self.port else ''}"


def boolean(text: str) -> bool:
    """Parse `true`, `false` and their usual synonyms."""
    words = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


def size(text: str) -> int:
    """Parse a size such as 512MB or 16GB, in bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None or float(match[1]) <= 0:
        raise ValueError(text)
    return int(float(match[1]) * _UNITS[f"{match[2].upper()}B"])


def positive(text: str) -> float:
    """Parse a finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def lock_timeout(text: str) -> float:
    """Parse a lock timeout in seconds, which must be longer than a busy machine can delay a query."""
    value = positive(text)
    if not MIN_LOCK_TIMEOUT_S <= value <= MAX_LOCK_TIMEOUT_S:
        raise ValueError(text)
    return value


def count(text: str) -> int:
    """Parse an integer of at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def cpu_set(text: str) -> tuple[int, ...]:
    """Parse numbers and ranges of CPUs such as 0-3,8."""
    cpus: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})(?:-(\d{1,4}))?\s*", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise ValueError(text)
        cpus.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(cpus))


def directory(text: str) -> Path:
    """Parse a path, and make it absolute."""
    return Path(text).expanduser().absolute()


def directories(text: str) -> tuple[Path, ...]:
    """Parse paths that are separated by colons."""
    return tuple(directory(path) for path in text.split(":") if path)


def one_of(*names: str) -> Callable[[str], str]:
    """Return a parser that accepts one of these words."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return parse


def port(text: str) -> int:
    """Parse a port; 0 selects a free one."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise ValueError(text)
    return value


def ssh_address(text: str) -> SSHAddress:
    """Parse `host`, `user@host`, `host:port` or `user@host:port`; an IPv6 address is in brackets."""
    match = _SSH_ADDRESS.fullmatch(text.strip())
    if match is None or (match["port"] and not 1 <= int(match["port"]) <= 65535):
        raise ValueError(text)
    number = int(match["port"]) if match["port"] else None
    return SSHAddress(host=match["host"].strip("[]"), user=match["user"], port=number)


def node_address(text: str) -> SSHAddress:
    """Parse `host` or `host:port`."""
    address = ssh_address(text)
    if address.user is not None:
        raise ValueError(text)
    return address


def ssh_addresses(text: str) -> tuple[SSHAddress, ...]:
    """Parse the addresses of different hosts, separated by commas."""
    addresses = tuple(map(ssh_address, text.split(",")))
    if len({address.host for address in addresses}) < len(addresses):
        raise ValueError(text)
    return addresses


def dollars(text: str) -> Decimal:
    """Parse an exact amount such as 1400 or $1400.00."""
    if not re.fullmatch(r"\$?\d{1,12}(\.\d{1,9})?", text):
        raise ValueError(text)
    return Decimal(text.removeprefix("$"))


def wait_value(text: str) -> float:
    """Parse dollars per hour of waiting; 0 is allowed."""
    value = float(text.removeprefix("$"))
    if not 0 <= value <= MAX_WAIT_VALUE:
        raise ValueError(text)
    return value


def interruptions_per_h(text: str) -> float:
    """Parse interruptions per hour; 0 is allowed."""
    value = float(text)
    if not 0 <= value <= MAX_INTERRUPTIONS_PER_H:
        raise ValueError(text)
    return value


def share(text: str) -> Decimal:
    """Parse a share above 0 and at most 1."""
    if not re.fullmatch(r"\d(\.\d{1,9})?", text) or not 0 < Decimal(text) <= 1:
        raise ValueError(text)
    return Decimal(text)


def seconds(text: str) -> int:
    """Parse a duration in dstack's notation (45s, 10m, 2h, 1d), in seconds; the default unit is seconds."""
    match = re.fullmatch(r"(\d{1,9})\s*([smhd]?)", text)
    if match is None:
        raise ValueError(text)
    return int(match[1]) * {"s": 1, "": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


def duration(low_s: int, high_s: int) -> Callable[[str], int]:
    """Return a parser for durations between two limits."""

    def parse(text: str) -> int:
        length_s = seconds(text)
        if not low_s <= length_s <= high_s:
            raise ValueError(text)
        return length_s

    return parse


def nodes(text: str) -> int:
    """Parse the number of VMs of a fleet."""
    value = int(text)
    if not 1 <= value <= MAX_NODES:
        raise ValueError(text)
    return value


def gpu_counts(text: str) -> tuple[int, ...]:
    """Parse numbers of GPUs per VM, in any order."""
    counts = tuple(sorted({int(part) for part in text.split(",")}))
    if not 1 <= counts[0] <= counts[-1] <= MAX_GPUS:
        raise ValueError(text)
    return counts


def gpu_count_rates(text: str) -> dict[int, Decimal]:
    """Parse dollars per hour by the number of GPUs, such as `8:15.92`."""
    pairs = [part.strip().split(":") for part in text.split(",")]
    return {gpu_counts(count)[0]: dollars(rate) for count, rate in pairs}


def matching(pattern: str) -> Callable[[str], str]:
    """Return a parser that accepts text matching the whole pattern."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return text

    return parse


def image(text: str) -> str:
    """Parse the name of a container image with a tag other than `latest`, a digest, or both."""
    name = r"[^\s:@]+(:\d+/[^\s:@]+)?"
    tag, digest = r":(?!latest(@|$))[\w.-]+", r"@sha256:[0-9a-f]{64}"
    return matching(f"{name}({tag}|({tag})?{digest})")(text)


def addresses(text: str) -> str:
    """Check e-mail addresses, separated by commas."""
    if not all(re.fullmatch(r"[^@\s,<>]+@[^@\s,<>]+", part.strip()) for part in text.split(",")):
        raise ValueError(text)
    return text


def url(*schemes: str) -> Callable[[str], str]:
    """Return a parser for URLs with one of these schemes."""

    def parse(text: str) -> str:
        scheme, separator, rest = text.partition("://")
        if scheme not in schemes or not separator or not rest:
            raise ValueError(text)
        return text

    return parse


def secure_url(text: str) -> str:
    """Parse an https:// address, or an http:// address of this machine, without a slash at the end."""
    address = url("https", "http")(text).rstrip("/")
    parts = urlsplit(address)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ValueError(text)
    if parts.query or parts.fragment or parts.username or not parts.hostname:
        raise ValueError(text)
    return address


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def issuer(text: str) -> str:
    """Parse the name of a preset, `github` or `google`, or the address of an OpenID Connect issuer."""
    return text if text in {"github", "google"} else secure_url(text)


def people(text: str) -> tuple[str, ...]:
    """Parse e-mail addresses or subjects that are separated by commas; addresses become lower case."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names or any(len(name) > 320 or not name.isprintable() for name in names):
        raise ValueError(text)
    return tuple(name.lower() if "@" in name else name for name in names)
