"""Declare dataclasses that load fast.

`dataclasses.dataclass` collects the fields of a class and compiles the text of every method that it adds,
which takes 0.4 ms for a frozen class. `warmfront run` loads about a hundred classes and creates objects of a
third of them. The `dataclass` of this module waits until the first object is created or its fields are
read; comparison, hash and representation are closures. It takes the arguments that this project uses, and
everything in `dataclasses` (`replace`, `fields`, `asdict`) works as usual. `bench/startup.py` measures what
this saves.

Two things are different: assigning to a field of a frozen class is an error of the type checker, not of the
running program, and an invalid declaration is an error when the class is first used.
"""

from __future__ import annotations

import dataclasses
import threading
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Held while a class is completed: two threads may create the first objects of a class at the same time.
_completing = threading.RLock()


def _declare(
    cls: type | None = None, /, *, frozen: bool = False, kw_only: bool = False, eq: bool = True
) -> Any:  # noqa: ANN401 - the type checker sees `dataclasses.dataclass` instead
    """Turn a class into a dataclass, or return a decorator that does."""

    def decorate(cls: Any) -> Any:  # noqa: ANN401 - as above
        own_hash = cls.__dict__.get("__hash__")
        _Incomplete(cls, kw_only=kw_only)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _make_repr(cls)
        if eq:
            if "__eq__" not in cls.__dict__:
                cls.__eq__ = _make_eq(cls)
            cls.__hash__ = own_hash or (_make_hash(cls) if frozen else None)
        return cls

    return decorate if cls is None else decorate(cls)


class _Incomplete:
    """A class that has neither its fields nor its `__init__` yet."""

    def __init__(self, cls: Any, *, kw_only: bool) -> None:  # noqa: ANN401 - any class
        self._cls = cls
        self._kw_only = kw_only
        self._placeholders: dict[str, object] = {
            "__dataclass_fields__": _Placeholder("__dataclass_fields__", self),
            "__match_args__": _Placeholder("__match_args__", self),
        }
        if "__init__" not in cls.__dict__:
            self._placeholders["__init__"] = self._make_init()
        for name, placeholder in self._placeholders.items():
            setattr(cls, name, placeholder)

    def complete(self) -> None:
        """Make it a dataclass, unless it is one by now."""
        with _completing:
            placeholders, self._placeholders = self._placeholders, {}
            if placeholders:
                for name in placeholders:
                    delattr(self._cls, name)
                dataclasses.dataclass(self._cls, kw_only=self._kw_only, repr=False, eq=False)

    def _make_init(self) -> Callable[..., None]:
        """Return an `__init__` that completes the class and calls the real one."""

        def init(instance: object, /, *args: object, **keywords: object) -> None:
            self.complete()
            self._cls.__init__(instance, *args, **keywords)

        return init


class _Placeholder:
    """Stands for an attribute of a class until it is read for the first time."""

    def __init__(self, name: str, incomplete: _Incomplete) -> None:
        self._name = name
        self._incomplete = incomplete

    def __get__(self, instance: object, owner: type) -> object:
        self._incomplete.complete()
        return getattr(owner, self._name)


def _make_repr(cls: type[Any]) -> Callable[[Any], str]:
    def represent(self: object) -> str:
        names = (field.name for field in dataclasses.fields(cls) if field.repr)
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return represent


def _make_eq(cls: type[Any]) -> Callable[[Any, object], bool]:
    values_of = _getter(lambda: (field.name for field in dataclasses.fields(cls) if field.compare))

    def equals(self: object, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented  # type: ignore[no-any-return]
        get = values_of()
        return bool(get(self) == get(other))

    return equals


def _make_hash(cls: type[Any]) -> Callable[[Any], int]:
    values_of = _getter(
        lambda: (
            field.name
            for field in dataclasses.fields(cls)
            if (field.compare if field.hash is None else field.hash)
        )
    )

    def hash_values(self: object) -> int:
        return hash(values_of()(self))

    return hash_values


def _getter(find_names: Callable[[], Iterable[str]]) -> Callable[[], Callable[[object], Any]]:
    """Return a function that returns a getter of these attributes, which is made when it is first needed."""
    getter: Callable[[object], Any] | None = None

    def get() -> Callable[[object], Any]:
        nonlocal getter
        if getter is None:
            names = list(find_names())
            getter = attrgetter(*names) if names else lambda _: ()
        return getter

    return get


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _declare

__all__ = ["dataclass"]
