"""Digests of images, with a real Docker daemon and a registry on loopback."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.registry import registry
from warmfront import settings
from warmfront.errors import InfrastructureError
from warmfront.providers.dstack import configuration, vm_image
from warmfront.sandbox.docker import connect

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]


@pytest.fixture(name="address")
def _address(docker_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a registry; the `docker` command uses the tests' daemon."""
    monkeypatch.setenv("DOCKER_HOST", docker_url)
    with registry() as address:
        yield address


def _import(docker_url: str, name: str) -> None:
    """Create an image with one file."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        entry = tarfile.TarInfo("name")
        entry.size = len(name)
        archive.addfile(entry, io.BytesIO(name.encode()))
    api = connect(docker_url)
    api.import_image_from_data(data.getvalue(), *name.rsplit(":", 1))
    api.close()


def test_tags_become_digests(docker_url: str, address: str, tmp_path: Path) -> None:
    """`push` returns a name that the service accepts, and `lock` writes the digests of the registry."""
    names = {base: f"{address}/bases/{base}:7.2" for base in ("rocm", "ubuntu")}
    pushed = {}
    for base, name in names.items():
        _import(docker_url, name)
        pushed[base] = vm_image.push(name)
        assert re.fullmatch(rf"{name}@sha256:[0-9a-f]{{64}}", pushed[base])
        pinned = settings.load({"WARMFRONT_WORKER_IMAGE": pushed[base]}, env_file=None)
        assert configuration.unpinned_image(pinned) is None
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / vm_image.LOCK, tmp_path / vm_image.LOCK)
    text = (tmp_path / vm_image.LOCK).read_text()
    for base, name in names.items():
        text = text.replace(vm_image.read_lock(ROOT)[base].image, name)
    (tmp_path / vm_image.LOCK).write_text(text)
    vm_image.lock(tmp_path)
    assert {base: image.pinned for base, image in vm_image.read_lock(tmp_path).items()} == pushed
    assert (tmp_path / vm_image.LOCK).read_text().startswith("# The base images")


def test_an_image_that_is_not_there(address: str) -> None:
    """The error names the command of Docker that failed."""
    with pytest.raises(InfrastructureError, match="`docker push` failed"):
        vm_image.push(f"{address}/none:1")
