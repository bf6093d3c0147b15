"""How the text of a setting is read: one function a kind of value, each with `ValueError` for what it is not.

They know neither variables nor defaults; whoever calls them says which setting is wrong.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: More VMs than anyone rents by mistake.
MOST_NODES = 32
#: An hour of waiting that is worth more is a mistake of typing.
MOST_WAIT_VALUE = 10_000

_UNITS = {"B": 1, "KB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}


def boolean(text: str) -> bool:
    """True or false, in the usual words."""
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
    """Bytes, written as 512MB or 16GB."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None or float(match[1]) <= 0:
        raise ValueError(text)
    return int(float(match[1]) * _UNITS[f"{match[2].upper()}B"])


def positive(text: str) -> float:
    """A number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError(text)
    return value


def count(text: str) -> int:
    """A whole number from 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def directory(text: str) -> Path:
    """An absolute path."""
    return Path(text).expanduser().absolute()


def one_of(*names: str) -> Callable[[str], str]:
    """A reader of one of these words."""

    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(text)
        return text

    return parse


def port(text: str) -> int:
    """A port; 0 is any that is free."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise ValueError(text)
    return value


def dollars(text: str) -> Decimal:
    """An exact amount: 1400 or 1400.00, also with a dollar sign."""
    if not re.fullmatch(r"\$?\d{1,12}(\.\d{1,9})?", text):
        raise ValueError(text)
    return Decimal(text.removeprefix("$"))


def wait_value(text: str) -> float:
    """Dollars an hour of waiting; 0 is a value."""
    value = float(text.removeprefix("$"))
    if not 0 <= value <= MOST_WAIT_VALUE:
        raise ValueError(text)
    return value


def share(text: str) -> Decimal:
    """A share above 0 and at most 1."""
    if not re.fullmatch(r"\d(\.\d{1,9})?", text) or not 0 < Decimal(text) <= 1:
        raise ValueError(text)
    return Decimal(text)


def seconds(text: str) -> int:
    """Seconds, written as dstack writes them: 45s, 10m, 2h, 1d; a bare number is seconds."""
    match = re.fullmatch(r"(\d{1,9})\s*([smhd]?)", text)
    if match is None:
        raise ValueError(text)
    return int(match[1]) * {"s": 1, "": 1, "m": 60, "h": 3600, "d": 86400}[match[2]]


def duration(low_s: int, high_s: int) -> Callable[[str], int]:
    """A reader of a duration between these."""

    def parse(text: str) -> int:
        length_s = seconds(text)
        if not low_s <= length_s <= high_s:
            raise ValueError(text)
        return length_s

    return parse


def nodes(text: str) -> int:
    """How many VMs a fleet may have."""
    value = int(text)
    if not 1 <= value <= MOST_NODES:
        raise ValueError(text)
    return value


def matching(pattern: str) -> Callable[[str], str]:
    """A reader of what the whole pattern fits."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(text)
        return text

    return parse


def url(*schemes: str) -> Callable[[str], str]:
    """A reader of an address with one of these schemes."""

    def parse(text: str) -> str:
        scheme, separator, rest = text.partition("://")
        if scheme not in schemes or not separator or not rest:
            raise ValueError(text)
        return text

    return parse
