"""Where the emulator is found, and what is reported if it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.cli.doctor import _emulator
from warmfront.errors import NoToolchain
from warmfront.hip.rocjitsu import CONFIGS, find_emulator
from warmfront.hip.toolchain import open_toolchain

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.settings import Settings


def _installed(prefix: Path, library: str, *configs: str) -> Settings:
    (prefix / library).parent.mkdir(parents=True)
    (prefix / library).touch()
    (prefix / CONFIGS).mkdir(parents=True)
    for name in configs:
        (prefix / CONFIGS / name).touch()
    return settings.load({"WARMFRONT_ROCJITSU": str(prefix)}, env_file=None)


@pytest.mark.parametrize(
    ("library", "configs", "expected"),
    [
        (
            "lib/librocjitsu.so",
            ("gfx942_cdna3.json", "gfx942_cdna3_kmd.json", "gfx950_mi355x_kmd.json"),
            "gfx942_cdna3_kmd.json",
        ),
        ("lib64/librocjitsu.so", ("gfx942_cdna3_kmd_2gpu.json", "gfx942_cdna3.json"), "gfx942_cdna3.json"),
        ("lib/librocjitsu_kmd.so", ("amdgpu_cdna3_kmd.json", "amdgpu_cdna4.json"), "amdgpu_cdna3_kmd.json"),
    ],
)
def test_names_of_several_releases(
    tmp_path: Path, library: str, configs: tuple[str, ...], expected: str
) -> None:
    """Library and configurations were renamed; a configuration of one GPU is chosen."""
    emulator = find_emulator(_installed(tmp_path, library, *configs))
    assert emulator.library == tmp_path / library
    assert emulator.config.name == expected


def test_an_architecture_without_a_configuration(tmp_path: Path) -> None:
    """The error names the folder and the setting."""
    configured = _installed(tmp_path, "lib/librocjitsu.so", "gfx1100_w7900.json")
    with pytest.raises(NoToolchain, match=r"no configuration for gfx942") as caught:
        find_emulator(configured)
    assert "WARMFRONT_ROCJITSU_CONFIG" in (caught.value.hint or "")


def test_an_emulator_that_is_not_installed(tmp_path: Path) -> None:
    """The toolchain reports what is missing and where it looked; the doctor shows this as a check."""
    variables = {"WARMFRONT_DEVICE": "rocjitsu", "WARMFRONT_ROCJITSU": str(tmp_path)}
    configured = settings.load(variables, env_file=None)
    with pytest.raises(NoToolchain, match=r"rocjitsu was not found: no librocjitsu\.so in ") as caught:
        open_toolchain(None, configured)
    check = _emulator(configured)
    assert (check.works, check.detail, check.fix) == (False, caught.value.message, caught.value.hint)
    unused = _emulator(settings.load({"WARMFRONT_ROCJITSU": str(tmp_path)}, env_file=None))
    assert (unused.works, unused.detail, unused.fix) == (False, "not installed; optional", "")


def test_the_doctor_finds_it(tmp_path: Path) -> None:
    """The check names the library, and how to use it."""
    check = _emulator(_installed(tmp_path, "lib/librocjitsu.so", "gfx942_cdna3_kmd.json"))
    assert check.works
    assert "librocjitsu.so, gfx942_cdna3_kmd.json; set WARMFRONT_DEVICE=rocjitsu" in check.detail
