"""Write readable YAML: keys in their order, multi-line text as a block, quotes only where needed.

It supports the types in dstack's configurations, so that printing one does not require a YAML library.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Text that YAML reads unchanged without quotes.
_PLAIN = re.compile(r"[A-Za-z0-9/$._+~][\w/$.+~@=,;()-]*(?:[ :][\w/$.+~@=,;()-]+)*")
#: Text that YAML would read as a number, a boolean, null or a time.
_OTHER_TYPE = re.compile(
    r"[-+]?[\d._,:]+(?:e[-+]?\d+)?|0[xo][\da-f_]+|[-+]?\.(?:inf|nan)|y|n|yes|no|on|off|true|false|null|~|"
    r"\d{4}-\d\d?-\d\d?.*",
    re.IGNORECASE,
)


def to_yaml(value: Mapping[str, Any]) -> str:
    """Format a mapping of strings, numbers, booleans, lists and mappings."""
    return "".join(f"{line}\n" for line in _mapping(value))


def _mapping(value: Mapping[str, Any]) -> Iterator[str]:
    for name, item in value.items():
        yield from _entry(f"{_scalar(name)}:", item)


def _entry(start: str, item: Any) -> Iterator[str]:  # noqa: ANN401 - any value of a configuration
    """Yield the lines of a value after `start`, which ends with a colon."""
    if isinstance(item, dict) and item:
        yield start
        yield from (f"  {line}" for line in _mapping(item))
    elif isinstance(item, (list, tuple)) and item:
        yield start
        for element in item:
            yield from _element(element)
    elif isinstance(item, str) and _is_block(item):
        yield f"{start} |-"
        yield from (f"  {line}" if line else "" for line in item.split("\n"))
    else:
        yield f"{start} {_scalar(item)}"


def _element(element: Any) -> Iterator[str]:  # noqa: ANN401 - any value of a configuration
    """Yield the lines of an element of a list."""
    if isinstance(element, (dict, list, tuple)) and element:
        lines = _mapping(element) if isinstance(element, dict) else itertools.chain(*map(_element, element))
        yield f"- {next(lines)}"
        yield from (f"  {line}" for line in lines)
    else:
        yield from _entry("-", element)


def _is_block(text: str) -> bool:
    """Return whether a text has several lines that a block can represent exactly."""
    lines = text.split("\n")
    is_exact = all(line.replace("\t", "").isprintable() for line in lines)
    return len(lines) > 1 and is_exact and bool(lines[-1]) and not lines[0].startswith(" ")


def _scalar(value: Any) -> str:  # noqa: ANN401 - any value of a configuration
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and not _OTHER_TYPE.fullmatch(value) and ": " not in value
        return value if is_plain else _quoted(value)
    return json.dumps(value)


def _quoted(text: str) -> str:
    """Return a text in quotes. Characters such as U+2028, which YAML reads as a line break, are escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)
