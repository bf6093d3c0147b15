"""Everything that runs as root on a VM and in our images is pinned: packages by hash, images by digest."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
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


def _prepare(tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run the script where pip and apt-get would leave a trace."""
    (tmp_path / "rocm").mkdir(exist_ok=True)
    for name in ("pip", "pip3", "apt-get", "curl"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >>{tmp_path}/installed\n")
        (tmp_path / name).chmod(0o755)
    script = configuration.PREPARE.read_text().replace("/opt/", f"{tmp_path}/")
    return subprocess.run(
        ["/bin/sh", "-c", script],
        env={"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin", "WARMFRONT_WORKER_IMAGE": "worker:1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_vm_installs_nothing(tmp_path: Path) -> None:
    """The image has the packages of the lock file, which is part of the uploaded listener."""
    bundle = listener_bundle.pack(tmp_path / "cache")
    shutil.copytree(listener_bundle.pack_for_upload(tmp_path / "cache"), tmp_path / listener_bundle.FOLDER)
    locked = bundle / "warmfront" / "listener" / "requirements.txt"
    pinned = _pinned(locked.read_text())
    assert set(pinned) >= _needed(ROOT / "requirements" / "listener.in")
    assert all(hashes for hashes in pinned.values())
    (tmp_path / "warmfront-image" / "cache").mkdir(parents=True)
    (tmp_path / "warmfront-image" / "requirements.txt").write_bytes(locked.read_bytes())
    done = _prepare(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "installed").exists()
    # The upload is unpacked where the task runs, and where the VM's host sees it.
    for place in (tmp_path / listener_bundle.FOLDER, tmp_path / "warmfront" / "listener"):
        assert (place / "warmfront" / "listener" / "__main__.py").is_file()


@pytest.mark.parametrize(
    ("requirements", "message"),
    [
        (None, "build it with `warmfront image build`"),
        ("numpy==1\n", "other Python packages than this service"),
    ],
)
def test_a_vm_with_another_image_ends_with_the_reason(
    tmp_path: Path, requirements: str | None, message: str
) -> None:
    """An image that we did not build, or built from other packages, is refused and not completed."""
    (tmp_path / listener_bundle.FOLDER).symlink_to(listener_bundle.pack(tmp_path / "cache"))
    if requirements is not None:
        (tmp_path / "warmfront-image").mkdir()
        (tmp_path / "warmfront-image" / "requirements.txt").write_text(requirements)
    done = _prepare(tmp_path)
    assert done.returncode == 1
    assert "The image worker:1" in done.stderr
    assert message in done.stderr
    assert not (tmp_path / "installed").exists()


def test_doctor_on_a_vm_has_the_settings_of_the_listener(tmp_path: Path) -> None:
    """`warmfront doctor --gpu` runs the uploaded package with the variables of the task's first command."""
    bundle = listener_bundle.pack(tmp_path / "cache")
    (tmp_path / listener_bundle.FOLDER).symlink_to(bundle)
    image = tmp_path / "warmfront-image"
    (image / "cache").mkdir(parents=True)
    shutil.copy(bundle / "warmfront" / "listener" / "requirements.txt", image)
    assert _prepare(tmp_path).returncode == 0
    (tmp_path / "python3").write_text(
        '#!/bin/sh\necho "$PYTHONPATH $WARMFRONT_SANDBOX $WARMFRONT_DOCKER_IMAGE $@"\n'
    )
    (tmp_path / "python3").chmod(0o755)

    def doctor(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [ROOT / "deploy" / "vm" / "warmfront", *words],
            env={"PATH": "/usr/bin:/bin", "WARMFRONT_IMAGE_DIR": str(image)},
            capture_output=True,
            text=True,
            check=False,
        )

    printed = doctor("doctor", "--gpu", "--json").stdout
    assert (
        printed == f"{tmp_path}/warmfront/listener docker worker:1 -m warmfront.listener.gpu_doctor --json\n"
    )
    assert "TOKEN" not in (image / "environment").read_text()
    refused = doctor("submit")
    assert refused.returncode == 2
    assert "a VM has one command: warmfront doctor --gpu" in refused.stderr


def test_the_delivered_folder_has_the_doctor(tmp_path: Path) -> None:
    """It runs with only the packages of a listener, and reports in at most ten lines what is missing."""
    bundle = listener_bundle.pack(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "warmfront.listener.gpu_doctor"],
        env={"PATH": os.defpath, "PYTHONPATH": str(bundle), "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert len(done.stdout.splitlines()) <= 10
    assert "no     /dev/kfd" in done.stdout


def test_the_image_has_the_same_listener(tmp_path: Path) -> None:
    """A listener whose files the image has starts from there, whatever problems the operator has."""
    alone = listener_bundle.pack(tmp_path, with_problems=False)
    assert f'"{alone.name}"' in (listener_bundle.pack(tmp_path) / "__main__.py").read_text()


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


@pytest.mark.parametrize("image", [settings.NO_IMAGE, "registry.example/worker:1"])
def test_an_image_without_a_digest_is_refused(caplog: pytest.LogCaptureFixture, image: str) -> None:
    """It is an error, or a warning if the setting allows it; an image with a digest causes neither."""
    configuration.check_images(replace(OURS, worker_image=f"registry.example/worker:1@sha256:{'0' * 64}"))
    assert not caplog.records
    ours = replace(OURS, worker_image=image)
    with pytest.raises(BadSetting, match=r"WARMFRONT_WORKER_IMAGE is (not set|.* no digest)") as raised:
        configuration.check_images(ours)
    assert "`warmfront image push`" in str(raised.value.hint)
    configuration.check_images(replace(ours, require_digests=False))
    assert "WARMFRONT_WORKER_IMAGE" in caplog.text


def test_credentials_of_the_registry_are_given_to_dstack_alone() -> None:
    """A private registry's password is not in the environment of the listener."""
    ours = replace(OURS, registry_username="me", registry_password="pull-only")  # noqa: S106 - no secret
    task = configuration.worker_task(ours, vm_id="vm_1", gpu="MI300X", token="")
    assert task["registry_auth"] == {"username": "me", "password": "pull-only"}
    assert "pull-only" not in str(task["env"])
    assert "registry_auth" not in configuration.worker_task(OURS, vm_id="vm_1", gpu="MI300X", token="")
