"""Process large arrays in parts that fit into a CPU cache, on all CPUs.

NumPy releases the interpreter lock, and temporary arrays of a few hundred KiB cost no page faults: together,
this makes a pass over a large array several times as fast.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import ThreadPoolExecutor

_Part = TypeVar("_Part")

#: Elements per part.
CHUNK = 2**17
#: Elements per part if one thread works with temporary arrays of float64.
SMALL_CHUNK = 2**15
#: Arrays with fewer elements are not divided between threads.
LARGE = 2**21


def parts_of(count: int, *, chunk: int = CHUNK) -> Iterator[slice]:
    """Return consecutive slices of `count` elements."""
    return (slice(start, min(start + chunk, count)) for start in range(0, count, chunk))


def run_parallel(function: Callable[[_Part], object], parts: Iterable[_Part]) -> None:
    """Call the function once per part, in threads if the machine has more than one CPU."""
    pool = _pool()
    if pool is None:
        for part in parts:
            function(part)
        return
    for _ in pool.map(function, parts):
        pass


@cache
def _pool() -> ThreadPoolExecutor | None:
    """Return the thread pool of this process; None on a single CPU, or if no thread can be started."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only large arrays need it

    cpus = len(os.sched_getaffinity(0))
    if cpus == 1:
        return None
    pool = ThreadPoolExecutor(min(cpus, 8), thread_name_prefix="warmfront-chunks")
    try:
        pool.submit(int).result()
    except RuntimeError:
        return None
    return pool
