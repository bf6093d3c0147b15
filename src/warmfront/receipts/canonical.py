"""Canonical JSON: exactly one sequence of bytes per value.

This is the JSON Canonicalization Scheme, RFC 8785: no spaces, keys sorted by their UTF-16 code units, UTF-8
without unnecessary escapes, and numbers as ECMAScript writes them (`1`, not `1.0`; `1e-7`, not `1e-07`).
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

#: The largest integer that ECMAScript represents exactly, like all smaller ones.
_MAX_INTEGER = 2**53 - 1
#: The powers of ten between which ECMAScript writes a number without an exponent.
_LARGEST_PLAIN, _SMALLEST_PLAIN = 21, -6


class NotCanonical(ValueError):
    """The bytes are not the canonical JSON of any value."""


def canonical_json(value: object) -> bytes:
    """Return the canonical JSON of a value.

    Raises:
        ValueError: The value has no canonical JSON: NaN, an infinity, a whole number above 2**53 - 1, a lone
            surrogate, or a type that JSON does not have.
    """
    return _text(value).encode()  # UnicodeEncodeError, for a lone surrogate, is a ValueError


def parse_canonical_json(data: bytes) -> Any:  # noqa: ANN401 - JSON has values of any type
    """Parse canonical JSON and return its value.

    Raises:
        NotCanonical: The bytes are not JSON, or not in canonical form: spaces, a different order of keys, a
            duplicate key, a different spelling of a number or text, or bytes after the end.
    """
    try:
        value = json.loads(data.decode("utf-8"), parse_int=_parse_integer)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"it is not JSON: {error}") from None
    try:
        canonical = canonical_json(value)
    except (ValueError, RecursionError) as error:
        raise NotCanonical(f"it has no canonical form: {error}") from None
    if canonical != data:
        raise NotCanonical(f"it differs from its canonical form at byte {_first_difference(canonical, data)}")
    return value


def _text(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        return _object(value)
    raise ValueError(f"JSON has no {type(value).__name__}")


def _object(value: dict[Any, Any]) -> str:
    if not all(isinstance(key, str) for key in value):
        raise ValueError("a key is not a string")
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return f"{{{','.join(f'{_text(key)}:{_text(value[key])}' for key in keys)}}}"


def _parse_integer(text: str) -> int | float:
    """Parse an integer; return a large one as a float, which it was before it was written."""
    value = float(text)
    return int(text) if abs(value) <= _MAX_INTEGER else value


def _integer(value: int) -> str:
    if abs(value) > _MAX_INTEGER:
        raise ValueError("a whole number is above 2**53 - 1")
    return str(value)


def _number(value: float) -> str:
    """Write a number as ECMAScript's Number::toString does."""
    if not math.isfinite(value):
        raise ValueError(f"JSON has no {value}")
    if value == 0:
        return "0"
    # Both languages choose the shortest digits that give the same number; only the layout differs.
    sign, digit_tuple, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)  # position of the decimal point, counted from the first digit
    if len(digits) <= point <= _LARGEST_PLAIN:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= _LARGEST_PLAIN:
        text = f"{digits[:point]}.{digits[point:]}"
    elif _SMALLEST_PLAIN < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text


def _first_difference(one: bytes, other: bytes) -> int:
    shorter = min(len(one), len(other))
    return next((index for index in range(shorter) if one[index] != other[index]), shorter)
