"""Settings come from the environment and `.env`, and a bad one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.errors import BadSetting

if TYPE_CHECKING:
    from pathlib import Path


def test_defaults_are_the_documented_ones() -> None:
    """With nothing set, a sandbox has 16 GB, 4 CPUs and isolation."""
    loaded = settings.load({}, env_file=None)
    assert loaded.isolation is True
    assert loaded.memory_bytes == 16 * 1024**3
    assert loaded.cpus == 4.0


@pytest.mark.parametrize(
    ("text", "size"),
    [("16GB", 16 * 1024**3), ("512mb", 512 * 1024**2), ("1.5 GiB", 3 * 1024**3 // 2), ("4096", 4096)],
)
def test_sizes_have_units(text: str, size: int) -> None:
    """A size is a number with a unit, in any case, or plain bytes."""
    assert settings.load({"AMD_CONTAINER_MEMORY_LIMIT": text}, env_file=None).memory_bytes == size


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AMD_CONTAINER_ISOLATION", "maybe"),
        ("AMD_CONTAINER_MEMORY_LIMIT", "lots"),
        ("AMD_CONTAINER_MEMORY_LIMIT", "0GB"),
        ("AMD_CONTAINER_CPU_LIMIT", "-1"),
        ("AMD_CONTAINER_CPU_LIMIT", "nan"),
        ("WARMFRONT_PIDS_LIMIT", "0"),
        ("WARMFRONT_CASE_TIMEOUT", "soon"),
        ("WARMFRONT_SANDBOX", "chroot"),
    ],
)
def test_a_bad_value_is_named(variable: str, value: str) -> None:
    """The error names the variable, the value, and what is allowed."""
    with pytest.raises(BadSetting) as caught:
        settings.load({variable: value}, env_file=None)
    assert variable in caught.value.message
    assert repr(value) in caught.value.message
    assert caught.value.hint


def test_the_environment_goes_before_the_env_file(tmp_path: Path) -> None:
    """`.env` is read, comments and quotes and all, and the environment overrides it."""
    file = tmp_path / ".env"
    file.write_text("# limits\nAMD_CONTAINER_CPU_LIMIT='2'\nexport WARMFRONT_PIDS_LIMIT = 33\n")
    loaded = settings.load({"WARMFRONT_PIDS_LIMIT": "44"}, env_file=file)
    assert loaded.cpus == 2.0
    assert loaded.pids == 44


def test_a_sandbox_never_gets_all_of_the_memory() -> None:
    """A limit above three quarters of the machine's memory is lowered to that."""
    loaded = settings.load({"AMD_CONTAINER_MEMORY_LIMIT": "1000TB"}, env_file=None)
    assert loaded.run_limits().memory_bytes == settings.physical_memory_bytes() * 3 // 4


def test_an_empty_variable_is_as_good_as_none() -> None:
    """A variable that is set to nothing leaves the default."""
    assert settings.load({"AMD_CONTAINER_CPU_LIMIT": " "}, env_file=None).cpus == 4.0
