"""Mix two sets of inputs with secret random bits, as the harness does on the device (slot_kernels.h).

A timed call has inputs of which at least an eighth differ from those of any other call, at places that only
the judge knows. So the result of another call is useless without reading all inputs. Mixing takes a GPU
almost no time, while drawing every set in NumPy would take the judge minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warmfront.problems.chunks import parts_of, run_parallel

if TYPE_CHECKING:
    from warmfront.problems.spec import Tensors

    Array = np.ndarray[Any, Any]

#: Elements whose bits come from one counter.
BLOCK = 128

_ROUNDS = 10
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def mix(first: Tensors, second: Tensors, regions: dict[str, int], key: int) -> dict[str, Array]:
    """Return the inputs that the harness mixes from two base sets.

    Args:
        first: the elements where the random bit is 0.
        second: the elements where it is 1.
        regions: the index of the region of each tensor in the layout.
        key: the secret 64 bits.
    """
    return {name: _mix(first[name], second[name], regions[name], key) for name in first}


def _mix(first: Array, second: Array, region: int, key: int) -> Array:
    mixed = np.empty_like(first)
    into, zeros, ones = mixed.reshape(-1), first.reshape(-1), second.reshape(-1)

    def fill(part: slice) -> None:
        blocks = np.arange(part.start // BLOCK, -(-part.stop // BLOCK), dtype=np.uint64)
        bits = random_bits(blocks, region, key)[: part.stop - part.start]
        into[part] = np.where(bits, ones[part], zeros[part])

    run_parallel(fill, parts_of(into.size))
    return mixed


def random_bits(blocks: Array, stream: int, key: int) -> Array:
    """Return 128 random bits per block, as booleans: Philox4x32-10 by Salmon et al."""
    a, b = blocks & _LOW, blocks >> _HALF
    c, d = np.full_like(blocks, stream), np.zeros_like(blocks)
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        a, b = second >> _HALF ^ b ^ np.uint64(keys[0]), second & _LOW
        c, d = first >> _HALF ^ d ^ np.uint64(keys[1]), first & _LOW
        keys = [(value + step) & 0xFFFFFFFF for value, step in zip(keys, _KEY_STEPS, strict=True)]
    words = np.stack([a, b, c, d], axis=1).astype("<u4")
    return np.unpackbits(words.view(np.uint8).reshape(-1), bitorder="little").astype(bool)
