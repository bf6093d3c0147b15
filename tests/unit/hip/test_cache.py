"""Tests of the cache of built files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from warmfront.hip import cache

if TYPE_CHECKING:
    from pathlib import Path


def test_concurrent_callers_build_an_entry_once(tmp_path: Path) -> None:
    """Eight concurrent callers share one build."""
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
    """After a failed build the entry does not exist, and the next call builds it."""

    def fail(into: Path) -> None:
        (into / "half").write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        cache.get_or_build(tmp_path, "x", fail)
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
    assert cache.get_or_build(tmp_path, "x", lambda into: (into / "ok").touch()).is_dir()


def test_the_digest_depends_on_the_boundaries_of_its_parts(tmp_path: Path) -> None:
    """Moving a letter from one part to the next changes the digest."""
    assert cache.digest(["ab", "c"]) != cache.digest(["a", "bc"])
    file = tmp_path / "f"
    file.write_text("c")
    assert cache.digest(["ab", file]) == cache.digest(["ab", "c"])
