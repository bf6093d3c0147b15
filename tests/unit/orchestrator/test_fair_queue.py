"""The order of the fair queue."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from warmfront.orchestrator.fair_queue import FairQueue


def test_owners_take_turns() -> None:
    """A hundred submissions of one owner do not delay the only one of another."""
    queue = FairQueue()
    for number in range(100):
        queue.push("many", f"m{number}")
    queue.push("one", "o")
    assert [queue.pop(), queue.pop(), queue.pop()] == ["m0", "o", "m1"]


def test_the_owner_with_the_fewest_running_is_next() -> None:
    """An owner with two running submissions waits for one with none, whatever the order of arrival."""
    queue = FairQueue()
    queue.started("busy")
    queue.started("busy")
    queue.push("busy", "b")
    queue.push("idle", "i")
    assert queue.pop() == "i"
    queue.done("busy")
    queue.done("busy")
    queue.push("idle", "i2")
    assert queue.pop() == "b"


def test_a_requeued_submission_precedes_its_owners_later_ones() -> None:
    """A submission pushed with `front` is the next of its owner."""
    queue = FairQueue()
    queue.push("a", "first")
    queue.push("a", "second")
    lost = queue.pop()
    queue.done("a")
    assert lost == "first"
    queue.push("a", lost, front=True)
    assert queue.pop() == "first"


def test_the_position_counts_the_submissions_ahead() -> None:
    """A new submission waits for its owner's others and for as many of each other owner."""
    queue = FairQueue()
    for number in range(10):
        queue.push("many", f"m{number}")
    assert queue.position("many") == 10
    assert queue.position("new") == 1
    queue.push("new", "n0")
    assert queue.position("new", item="n0") == 1
    assert queue.position("new") == 3


def test_heads_are_in_the_order_in_which_they_are_popped() -> None:
    """The first submissions of all owners precede the second of any."""
    queue = FairQueue()
    for item in ("a0", "a1", "b0"):
        queue.push(item[0], item)
    assert list(queue.heads()) == ["a0", "b0", "a1"]


_STEPS = st.lists(
    st.tuples(st.sampled_from(["push", "front", "pop", "remove", "done"]), st.sampled_from("abc")),
    max_size=80,
)


@given(_STEPS)
def test_every_item_is_popped_once_in_its_owners_order(steps: list[tuple[str, str]]) -> None:
    """After any sequence of operations, each item that was not removed is popped exactly once."""
    queue, waiting, running, serial = FairQueue(), dict[str, list[str]](), Counter[str](), 0
    for step, owner in steps:
        line = waiting.setdefault(owner, [])
        if step in {"push", "front"}:
            serial += 1
            item = f"{owner}{serial}"
            queue.push(owner, item, front=step == "front")
            line.insert(0 if step == "front" else len(line), item)
        elif step == "pop":
            item_out = queue.pop()
            assert (item_out is None) == (not any(waiting.values()))
            if item_out is not None:
                assert waiting[item_out[0]].pop(0) == item_out
                running[item_out[0]] += 1
        elif step == "remove" and line:
            item = line.pop()
            assert queue.remove(item)
            assert not queue.remove(item)
        elif step == "done" and running[owner]:
            running[owner] -= 1
            queue.done(owner)
        assert len(queue) == sum(map(len, waiting.values()))
    assert sorted(queue.drain()) == sorted(item for line in waiting.values() for item in line)
    assert queue.pop() is None


def test_an_owner_cannot_take_every_place() -> None:
    """With a limit of one running item, the others of an owner wait although no other owner has any."""
    queue = FairQueue(max_running_per_owner=1)
    for item in ("a1", "a2"):
        queue.push("ada", item)
    assert (queue.pop(), queue.pop()) == ("a1", None)
    queue.push("bob", "b1")
    assert (queue.pop(), queue.pop()) == ("b1", None)
    queue.done("ada")
    assert queue.pop() == "a2"
