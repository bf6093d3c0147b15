"""What runs as root on a VM and in our images is pinned: packages by hash, images by digest."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from warmfront import settings
from warmfront.errors import BadSetting
from warmfront.providers.dstack import configuration, listener_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]
OURS = settings.load({}, env_file=None)


def _prepare_without_packages(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script where Python cannot import the listener's packages; a pip3 prints its arguments."""
    (tmp_path / "rocm").mkdir()
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "pip3").write_text('#!/bin/sh\necho "$@"\nexit 1\n')
    for name in ("python3", "pip3"):
        (tmp_path / name).chmod(0o755)
    script = configuration.PREPARE.read_text().replace("/opt/rocm", str(tmp_path / "rocm"))
    return subprocess.run(
        ["/bin/sh", "-c", script],
        env={"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_vm_installs_only_packages_with_known_hashes(tmp_path: Path) -> None:
    """The lock file is part of the uploaded listener, and every package that it needs is in it."""
    bundle = listener_bundle.pack(tmp_path / "cache")
    (tmp_path / listener_bundle.FOLDER).symlink_to(bundle)
    done = _prepare_without_packages(tmp_path)
    arguments = done.stdout.split()
    assert {"install", "--require-hashes", "--only-binary", ":all:"} <= set(arguments)
    locked = tmp_path / arguments[arguments.index("-r") + 1]
    assert done.returncode == 1  # a failed installation ends the task
    pinned = _pinned(locked.read_text())
    assert set(pinned) >= _needed(ROOT / "requirements" / "listener.in")
    assert all(hashes for hashes in pinned.values())


def test_a_vm_without_packages_and_lock_file_installs_nothing(tmp_path: Path) -> None:
    """The task ends with an error that names the file."""
    done = _prepare_without_packages(tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "warmfront/listener/requirements.txt" in done.stderr


@pytest.mark.parametrize(
    ("lock", "source"),
    [
        ("src/warmfront/listener/requirements.txt", "listener.in"),
        ("requirements/service.txt", "service.in"),
    ],
)
def test_images_and_vms_have_the_tested_versions(lock: str, source: str) -> None:
    """Each pin and its hashes are those of the lock file that the tests use, and no package is missing."""
    pinned = _pinned((ROOT / lock).read_text())
    tested = _pinned((ROOT / "requirements" / "dev.txt").read_text())
    assert {name: tested.get(name) for name in pinned} == pinned
    assert set(pinned) >= _needed(ROOT / "requirements" / source)


def _pinned(text: str) -> dict[str, set[str]]:
    """Return the versions and hashes of a lock file, by package."""
    pinned: dict[str, set[str]] = {}
    for name, version, hashes in re.findall(
        r"^([\w.-]+)(?:\[[^]]*])?==(\S+)[^\n]*\\\n((?: +--hash=sha256:[0-9a-f]{64}[ \\]*\n?)+)",
        text,
        re.MULTILINE,
    ):
        pinned.setdefault(name.lower().replace("_", "-"), set()).update({version, *hashes.split()})
    return pinned


def _needed(path: Path) -> set[str]:
    """Return the packages that a file names and, as installed here, those that they require."""
    found: set[str] = set()
    waiting = list(_named(path))
    while waiting:
        requirement = Requirement(waiting.pop())
        name = requirement.name.lower().replace("_", "-")
        for extra in requirement.extras or {""}:
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                if name not in found or extra:
                    waiting += [
                        one
                        for one in importlib.metadata.requires(requirement.name) or []
                        if (marker := Requirement(one).marker) is None or marker.evaluate({"extra": extra})
                    ]
                found.add(name)
    return found


def _named(path: Path) -> Iterator[str]:
    for line in path.read_text().splitlines():
        if line.startswith("-r "):
            yield from _named(path.parent / line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            yield line


@pytest.mark.parametrize("require", [False, True])
def test_an_image_without_a_digest_is_reported(caplog: pytest.LogCaptureFixture, *, require: bool) -> None:
    """It is a warning, or an error where digests are required; one with a digest is neither."""
    pinned = replace(OURS, worker_image=f"registry.example/worker:1@sha256:{'0' * 64}", require_digests=True)
    configuration.check_images(pinned)
    assert not caplog.records
    ours = replace(OURS, require_digests=require)
    if require:
        with pytest.raises(BadSetting, match=r"WARMFRONT_WORKER_IMAGE is 'rocm.* no digest") as raised:
            configuration.check_images(ours)
        assert "imagetools inspect rocm/dev-ubuntu-24.04:6.4.2" in str(raised.value.hint)
    else:
        configuration.check_images(ours)
        assert "WARMFRONT_WORKER_IMAGE" in caplog.text
