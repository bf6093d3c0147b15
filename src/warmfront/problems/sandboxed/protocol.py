"""The messages between a problem in a box and the judge: a length, a JSON object, and arrays.

The judge does not trust messages from the box: everything is validated, and nothing is unpickled or executed.
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
#: Name of the problem file in the box: the slug with underscores.
FILE = "{}.py"

MAX_HEADER_BYTES = 1 << 22
#: The allowed element types of tensors.
DTYPES = {"float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool"}


class ProtocolError(Exception):
    """The received data is not a valid message."""


def pack(header: Mapping[str, Any], tensors: Mapping[str, Tensors] | None = None) -> bytes:
    """Return a message. Tensors are in groups, such as inputs and outputs."""
    groups = {group: dict(arrays) for group, arrays in (tensors or {}).items()}
    shapes = {
        group: {name: [array.dtype.name, list(array.shape)] for name, array in arrays.items()}
        for group, arrays in groups.items()
    }
    text = json.dumps({**header, "tensors": shapes}).encode()
    arrays = [
        np.ascontiguousarray(array).tobytes() for members in groups.values() for array in members.values()
    ]
    return b"".join([SIZE.pack(len(text)), text, *arrays])


def unpack(
    receive: Callable[[int], bytes], *, max_bytes: int
) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray[Any, Any]]]]:
    """Receive the next message.

    Args:
        receive: reads exactly the given number of bytes.
        max_bytes: limit for the size of all tensors together.

    Raises:
        ProtocolError: the data is not a valid message.
    """
    (size,) = SIZE.unpack(receive(SIZE.size))
    if size > MAX_HEADER_BYTES:
        raise ProtocolError("a message that is too long")
    try:
        header = json.loads(receive(size))
        groups = header.pop("tensors")
        shapes = {
            (group, name): _parse_declaration(*declaration)
            for group, arrays in groups.items()
            for name, declaration in arrays.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProtocolError("a message that cannot be parsed") from None
    if sum(map(_bytes_of, shapes.values())) > max_bytes:
        raise ProtocolError(f"tensors of more than {max_bytes:,} bytes")
    tensors: dict[str, dict[str, np.ndarray[Any, Any]]] = {group: {} for group in groups}
    for (group, name), (dtype, shape) in shapes.items():
        data = receive(_bytes_of((dtype, shape)))
        tensors[group][name] = np.frombuffer(data, dtype).reshape(shape)
    return header, tensors


def _parse_declaration(dtype: object, shape: object) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if dtype not in DTYPES or not isinstance(shape, list) or len(shape) > 8:
        raise ValueError(dtype, shape)
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(shape)
    return np.dtype(str(dtype)), tuple(shape)


def _bytes_of(declaration: tuple[np.dtype[Any], tuple[int, ...]]) -> int:
    dtype, shape = declaration
    return dtype.itemsize * math.prod(shape)
