"""How a problem in a sandbox and the judge outside it speak: a length, a JSON object, and arrays after it.

Nothing that comes from inside is believed, and nothing of it is ever unpickled or run.
"""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.problems.spec import Tensors

SIZE = struct.Struct("<I")
#: The file in the box, named as a problem's file is: the slug with underscores.
FILE = "{}.py"

MAX_HEADER_BYTES = 1 << 22
#: What a tensor may be made of.
DTYPES = {"float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool"}


class ProtocolError(Exception):
    """What came is no message."""


def pack(header: Mapping[str, Any], tensors: Mapping[str, Tensors] | None = None) -> bytes:
    """A message; the tensors come in groups, such as inputs and outputs."""
    groups = {group: dict(found) for group, found in (tensors or {}).items()}
    shapes = {
        group: {name: [array.dtype.name, list(array.shape)] for name, array in found.items()}
        for group, found in groups.items()
    }
    text = json.dumps({**header, "tensors": shapes}).encode()
    arrays = [np.ascontiguousarray(array).tobytes() for found in groups.values() for array in found.values()]
    return b"".join([SIZE.pack(len(text)), text, *arrays])


def unpack(
    receive: Callable[[int], bytes], *, most_bytes: int
) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray[Any, Any]]]]:
    """The next message, by a function that reads exactly so many bytes; `ProtocolError` if it is none."""
    (size,) = SIZE.unpack(receive(SIZE.size))
    if size > MAX_HEADER_BYTES:
        raise ProtocolError("a message that is too long")
    try:
        header = json.loads(receive(size))
        groups = header.pop("tensors")
        shapes = {
            (group, name): _checked(*told) for group, found in groups.items() for name, told in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProtocolError("a message that cannot be read") from None
    if sum(map(_bytes_of, shapes.values())) > most_bytes:
        raise ProtocolError(f"tensors of more than {most_bytes:,} bytes")
    tensors: dict[str, dict[str, np.ndarray[Any, Any]]] = {group: {} for group in groups}
    for (group, name), (dtype, shape) in shapes.items():
        data = receive(_bytes_of((dtype, shape)))
        tensors[group][name] = np.frombuffer(data, dtype).reshape(shape)
    return header, tensors


def _checked(dtype: object, shape: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if dtype not in DTYPES or not isinstance(shape, list) or len(shape) > 8:
        raise ValueError(dtype, shape)
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(shape)
    return np.dtype(str(dtype)), tuple(shape)


def _bytes_of(told: tuple[np.dtype[Any], tuple[int, ...]]) -> int:
    dtype, shape = told
    return dtype.itemsize * math.prod(shape)
