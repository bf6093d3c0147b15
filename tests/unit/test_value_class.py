"""The dataclasses of `warmfront.value_class` behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Any

import pytest

from warmfront.value_class import dataclass


@dataclass(frozen=True, kw_only=True)
class Price:
    """A frozen class, with a field that is not shown and one that is not hashed."""

    amount: int
    token: str = field(default="", repr=False)
    notes: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Quote(Price):
    """A class that inherits fields."""

    region: str = "anywhere"


@dataclass
class Counter:
    """A class whose fields change."""

    count: int = 0


@dataclass(frozen=True)
class Name:
    """A class with its own methods."""

    text: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self.text.lower() == other.text.lower()

    def __hash__(self) -> int:
        return hash(self.text.lower())

    def __repr__(self) -> str:
        return f"<{self.text}>"


def _standard(cls: type, **options: bool) -> Any:
    """Return the same class made by the standard library."""
    namespace = {name: value for name, value in vars(cls).items() if name in cls.__annotations__}
    for each in dataclasses.fields(cls):
        if each.default_factory is not dataclasses.MISSING:
            namespace[each.name] = field(default_factory=each.default_factory, hash=each.hash)
        elif not each.repr:
            namespace[each.name] = field(default=each.default, repr=False)
    made = type(cls.__name__, (), {**namespace, "__annotations__": dict(cls.__annotations__), "__doc__": ""})
    return dataclasses.dataclass(**options)(made)


def test_values_with_equal_fields_are_equal_and_have_one_hash() -> None:
    """Equality and hash follow the fields and the class."""
    one, same, other = Price(amount=1), Price(amount=1), Price(amount=2)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != Quote(amount=1)
    assert Quote(amount=1, region="a") != Quote(amount=1, region="b")


def test_a_field_can_be_left_out_of_the_hash_or_the_text() -> None:
    """`field(hash=False)` and `field(repr=False)` are respected: secrets stay out of logs."""
    assert hash(Price(amount=1, notes={"a": "b"})) == hash(Price(amount=1))
    assert "secret" not in repr(Price(amount=1, token="secret"))  # noqa: S106 - not a password


def test_the_text_is_that_of_the_standard_library() -> None:
    """The representation is the same."""
    standard = _standard(Price, frozen=True, kw_only=True)
    assert repr(Price(amount=3)) == repr(standard(amount=3))
    assert repr(Counter(2)) == repr(_standard(Counter)(2))


def test_a_class_whose_fields_change_cannot_be_hashed() -> None:
    """As in the standard library, comparison without `frozen` removes the hash."""
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter(1))


def test_methods_of_the_class_are_kept() -> None:
    """Methods that the class defines itself are not replaced."""
    assert Name("A") == Name("a")
    assert len({Name("A"), Name("a")}) == 1
    assert repr(Name("A")) == "<A>"


def test_the_functions_of_the_standard_library_work() -> None:
    """Replacing, converting, copying and pickling work."""
    price = Quote(amount=1, region="x")
    assert dataclasses.replace(price, amount=5) == Quote(amount=5, region="x")
    assert dataclasses.asdict(price) == {"amount": 1, "token": "", "notes": {}, "region": "x"}
    assert copy.deepcopy(price) == price
    assert pickle.loads(pickle.dumps(price)) == price  # noqa: S301 - our own bytes


def test_arguments_are_checked_as_usual() -> None:
    """A missing or positional argument is a `TypeError`."""
    with pytest.raises(TypeError, match="amount"):
        Price()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Price(1)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Late:
    """A class that no other test uses, so that it is incomplete when a test begins."""

    text: str
    parts: list[str] = field(default_factory=list)


def test_a_class_that_was_never_used_compares_what_was_unpickled() -> None:
    """Objects that were not made by `__init__` in this process have their equality, hash and text."""
    script = (
        "import pickle, sys; from tests.unit.test_value_class import Late;"
        "one, two = pickle.loads(sys.stdin.buffer.read());"
        "print(one == two, one != two, repr(one))"
    )
    sent = pickle.dumps((Late("a", ["b"]), Late("a", ["b"])))
    done = subprocess.run([sys.executable, "-c", script], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "True False Late(text='a', parts=['b'])"


def test_the_first_objects_of_a_class_can_be_created_by_many_threads() -> None:
    """A class is completed once, by one of them."""
    barrier = threading.Barrier(8)

    @dataclass(frozen=True)
    class Fresh:
        number: int
        twice: int = 2

    def create(number: int) -> Fresh:
        barrier.wait()
        return Fresh(number)

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(8)))
    assert [fresh.number for fresh in made] == list(range(8))
    assert [each.name for each in dataclasses.fields(Fresh)] == ["number", "twice"]


def test_fields_and_patterns_of_a_class_without_objects() -> None:
    """The fields of a class can be read before it has objects, and patterns match by position."""

    @dataclass(frozen=True, kw_only=False)
    class Point:
        x: int
        y: int = 0

    @dataclass(frozen=True)
    class Labeled(Point):
        label: str = ""

    assert [each.name for each in dataclasses.fields(Labeled)] == ["x", "y", "label"]
    assert Labeled.__match_args__ == ("x", "y", "label")
    match Labeled(1, 2, "here"):
        case Labeled(x, _, label):
            assert (x, label) == (1, "here")
    assert dataclasses.replace(Point(1), y=5) == Point(1, 5)
