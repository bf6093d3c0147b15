"""Tests of the choice of the compiler: g++, clang++, the wheel, or an error if there is none."""

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
    """Return the only folder on PATH, which is empty."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, name: str) -> None:
    """Create a program in that folder."""
    (folder / name).touch(mode=0o755)


def test_prefers_gcc_to_clang(programs: Path, tmp_path: Path) -> None:
    """clang++ is used if there is no g++."""
    install(programs, "clang++")
    assert find_compiler(tmp_path).command == str(programs / "clang++")
    install(programs, "g++")
    assert find_compiler(tmp_path).command == str(programs / "g++")


@pytest.mark.usefixtures("programs")
def test_uses_the_wheel_without_a_system_compiler(tmp_path: Path) -> None:
    """Without g++ and clang++, the wheel's clang is used; the notice says that its first build takes long."""
    toolchain = CpuToolchain(tmp_path)
    assert find_compiler(tmp_path).name == "ziglang"
    assert not toolchain.is_built
    assert "a minute or two" in toolchain.first_build_notice


@pytest.mark.usefixtures("programs")
def test_without_a_compiler_the_hint_names_both_ways_to_install_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without any compiler there is no toolchain, and the hint has the commands to run."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(NoToolchain) as caught:
        CpuToolchain(tmp_path)
    assert "apt-get install g++" in (caught.value.hint or "")
    assert "pip install ziglang" in (caught.value.hint or "")


@pytest.mark.usefixtures("programs")
def test_the_wheel_has_no_checked_build(tmp_path: Path) -> None:
    """The checked build says that it needs g++ or clang++ without trying to compile."""
    checked_build = CpuToolchain(tmp_path).checked_build
    assert checked_build is not None
    assert checked_build.failure == "The bug finder needs g++ or clang++."
