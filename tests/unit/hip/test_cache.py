"""What is built once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from warmfront.hip import cache

if TYPE_CHECKING:
    from pathlib import Path


def test_an_entry_is_built_once_however_many_ask(tmp_path: Path) -> None:
    """Eight at once share one build."""
    built: list[Path] = []

    def build(into: Path) -> None:
        built.append(into)
        (into / "file").write_text("made")

    with ThreadPoolExecutor(8) as pool:
        entries = set(pool.map(lambda _: cache.get_or_build(tmp_path / "cache", "x", build), range(8)))
    assert len(built) == 1
    assert [entry.name for entry in entries] == ["x"]
    assert (entries.pop() / "file").read_text() == "made"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    """After a failure the entry does not exist, and the next try builds it."""

    def fail(into: Path) -> None:
        (into / "half").write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.get_or_build(tmp_path, "x", fail)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
    assert cache.get_or_build(tmp_path, "x", lambda into: (into / "ok").touch()).is_dir()


def test_the_digest_knows_where_one_part_ends(tmp_path: Path) -> None:
    """Moving a letter from one part to the next is another digest."""
    assert cache.digest(["ab", "c"]) != cache.digest(["a", "bc"])
    file = tmp_path / "f"
    file.write_text("c")
    assert cache.digest(["ab", file]) == cache.digest(["ab", "c"])
