"""Which compiler is used: the machine's own before the wheel's, and words where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront.errors import NoToolchain
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.cpu.host_compiler import find_compiler

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="programs")
def _programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; it is empty."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, name: str) -> None:
    """Put a program there."""
    (folder / name).touch(mode=0o755)


def test_a_compiler_of_the_machine_goes_first(programs: Path, tmp_path: Path) -> None:
    """Clang++ is used where it is alone, g++ where both are."""
    install(programs, "clang++")
    assert find_compiler(tmp_path).command == str(programs / "clang++")
    install(programs, "g++")
    assert find_compiler(tmp_path).command == str(programs / "g++")


@pytest.mark.usefixtures("programs")
def test_the_wheel_compiles_where_the_machine_cannot(tmp_path: Path) -> None:
    """Without either, the wheel's clang is used, which says that its first build takes a while."""
    toolchain = CpuToolchain(tmp_path)
    assert find_compiler(tmp_path).name == "ziglang"
    assert not toolchain.is_built
    assert "a minute or two" in toolchain.first_build_notice


@pytest.mark.usefixtures("programs")
def test_without_any_compiler_both_ways_to_get_one_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the wheel too there is no toolchain, and the hint has the lines to run."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(NoToolchain) as caught:
        CpuToolchain(tmp_path)
    assert "apt-get install g++" in (caught.value.hint or "")
    assert "pip install ziglang" in (caught.value.hint or "")


@pytest.mark.usefixtures("programs")
def test_the_bug_finder_is_not_tried_with_the_wheel(tmp_path: Path) -> None:
    """It says what it would need, at once."""
    assert CpuToolchain(tmp_path).checked_build.failure == "The bug finder needs g++ or clang++."
