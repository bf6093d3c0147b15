"""Declare dataclasses that load fast.

`dataclasses.dataclass` compiles the text of every method that it adds: six for a frozen class, which takes
0.4 ms. `warmfront run` loads about a hundred classes and creates objects of a third of them. The `dataclass`
of this module uses the standard one only to collect the fields. `__init__` is compiled when the first object
is created; comparison, hash and representation are closures. It accepts the arguments that this project
uses, and everything in `dataclasses` (`replace`, `fields`, `asdict`) works as usual. `bench/startup.py`
measures how much this saves.

One thing is different: assigning to a field of a frozen class is an error of the type checker, not of the
running program.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _declare(
    cls: type | None = None, /, *, frozen: bool = False, kw_only: bool = False, eq: bool = True
) -> Any:  # noqa: ANN401 - the type checker sees `dataclasses.dataclass` instead
    """Turn a class into a dataclass, or return a decorator that does."""

    def decorate(cls: Any) -> Any:  # noqa: ANN401 - as above
        own_hash = cls.__dict__.get("__hash__")
        dataclasses.dataclass(cls, kw_only=kw_only, init=False, repr=False, eq=False)
        if "__init__" not in cls.__dict__:
            cls.__init__ = _make_init(cls)
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = _make_repr(cls)
        if eq:
            if "__eq__" not in cls.__dict__:
                cls.__eq__ = _make_eq(cls)
            cls.__hash__ = own_hash or (_make_hash(cls) if frozen else None)
        return cls

    return decorate if cls is None else decorate(cls)


def _make_init(cls: type[Any]) -> Callable[..., None]:
    """Return an `__init__` that replaces itself with the compiled one.

    Threads may create the first objects of a class at the same time. Each thread compiles the same
    `__init__`, so it does not matter which one the class keeps.
    """

    def init(instance: object, /, *args: object, **keywords: object) -> None:
        compiled = _compile_init(cls)
        cls.__init__ = compiled
        compiled(instance, *args, **keywords)

    return init


def _compile_init(cls: type[Any]) -> Callable[..., None]:
    """Compile the `__init__` that assigns the arguments, or their defaults, to the fields."""
    fields = dataclasses.fields(cls)
    names: dict[str, object] = {"_absent_": dataclasses.MISSING}
    positional: list[str] = []
    keyword_only: list[str] = []
    body: list[str] = []
    for field in fields:
        value = field.name
        parameter = field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{field.name}_"] = field.default_factory
            parameter += "=_absent_"
            value = f"_make_{field.name}_() if {field.name} is _absent_ else {field.name}"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{field.name}_"] = field.default
            parameter += f"=_default_{field.name}_"
        (keyword_only if field.kw_only else positional).append(parameter)
        body.append(f"self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    separator = ["*"] if keyword_only else []
    parameters = ", ".join(["self", *positional, *separator, *keyword_only])
    text = f"def __init__({parameters}):\n " + "\n ".join(body or ["pass"])
    exec(text, names)  # noqa: S102 - the names are those of fields, as in `dataclasses`
    init = cast("Callable[..., None]", names["__init__"])
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


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
