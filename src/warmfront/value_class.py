"""Declare dataclasses that load fast.

`dataclasses.dataclass` compiles the text of every method that it adds: six for a frozen class, which takes
0.4 ms. `warmfront run` loads about a hundred classes. The `dataclass` of this module compiles only
`__init__`, and adds comparison, hash and representation as closures. It supports the arguments that this
project uses, and the functions of `dataclasses` (`replace`, `fields`, `asdict`) work as usual.
`bench/startup.py` measures the savings.

There is one difference: assigning to a field of a frozen class is only an error for the type checker, not at
run time.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _declare(
    cls: type | None = None, /, *, frozen: bool = False, kw_only: bool = False, eq: bool = True
) -> Any:  # noqa: ANN401 - the type checker sees `dataclasses.dataclass` instead
    """Turn a class into a dataclass, or return a decorator that does."""

    def decorate(cls: Any) -> Any:  # noqa: ANN401 - as above
        own_hash = cls.__dict__.get("__hash__")
        dataclasses.dataclass(cls, kw_only=kw_only, repr=False, eq=False)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _make_repr(cls)
        if eq:
            if "__eq__" not in cls.__dict__:
                cls.__eq__ = _make_eq(cls)
            cls.__hash__ = own_hash or (_make_hash(cls) if frozen else None)
        return cls

    return decorate if cls is None else decorate(cls)


def _make_repr(cls: type[Any]) -> Callable[[Any], str]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    def represent(self: object) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return represent


def _make_eq(cls: type[Any]) -> Callable[[Any, object], bool]:
    values_of = _getter([field.name for field in dataclasses.fields(cls) if field.compare])

    def equals(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]
        return bool(values_of(self) == values_of(other))

    return equals


def _make_hash(cls: type[Any]) -> Callable[[Any], int]:
    fields = dataclasses.fields(cls)
    values_of = _getter(
        [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    )

    def hash_values(self: object) -> int:
        return hash(values_of(self))

    return hash_values


def _getter(names: Sequence[str]) -> Callable[[object], Any]:
    return attrgetter(*names) if names else lambda _: ()


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _declare

__all__ = ["dataclass"]
