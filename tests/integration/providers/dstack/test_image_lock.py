"""`warmfront image lock` against a registry on loopback: the protocol of Docker Hub, without Docker."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.registry import registry
from warmfront.cli import image
from warmfront.errors import BadSetting, InfrastructureError
from warmfront.providers.dstack import vm_image
from warmfront.providers.dstack.image_registry import (
    INDEX_TYPES,
    MANIFEST_TYPES,
    ImageReference,
    look_up_digest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[4]
AMD64 = {"os": "linux", "architecture": "amd64"}
ARM64 = {"os": "linux", "architecture": "arm64"}


@pytest.fixture(name="address")
def _address() -> Iterator[str]:
    """The address of a registry that requires a token."""
    with registry(token="for anyone") as address:  # noqa: S106 - no secret
        yield address


def _store(address: str, name: str, kind: str, **fields: Any) -> str:
    """Store a manifest, and return its digest."""
    body = json.dumps({"schemaVersion": 2, "mediaType": kind, **fields}).encode()
    repository, _, tag = name.rpartition(":")
    url = f"http://{address}/v2/{repository}/manifests/{tag}"
    httpx.put(url, content=body, headers={"Content-Type": kind}).raise_for_status()
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _index(*platforms: dict[str, str]) -> list[dict[str, Any]]:
    return [{"digest": f"sha256:{number:064x}", "platform": p} for number, p in enumerate(platforms)]


def test_lock_writes_what_the_registry_has(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command gets a token, looks up a list of platforms and a single image, and pins both; no Docker."""
    digests = {
        "rocm": _store(address, "rocm/dev:7.2.4", INDEX_TYPES[1], manifests=_index(ARM64, AMD64)),
        "ubuntu": _store(address, "library/ubuntu:24.04", MANIFEST_TYPES[0], layers=[]),
    }
    (tmp_path / "deploy").mkdir()
    text = (ROOT / vm_image.LOCK).read_text()
    text = text.replace("rocm/dev-ubuntu-24.04:7.2.4", f"{address}/rocm/dev:7.2.4")
    (tmp_path / vm_image.LOCK).write_text(text.replace('"ubuntu:', f'"{address}/library/ubuntu:'))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert image.lock() == 0
    assert {name: base.digest for name, base in vm_image.read_lock(tmp_path).items()} == digests
    printed = capsys.readouterr().out
    assert all(digest in printed for digest in digests.values())
    assert (tmp_path / vm_image.LOCK).read_text().startswith("# The base images")


def test_an_image_for_other_machines_is_refused(address: str) -> None:
    """VMs are linux/amd64."""
    _store(address, "rocm/dev:1", INDEX_TYPES[0], manifests=_index(ARM64))
    with pytest.raises(InfrastructureError, match="has no image for linux/amd64"):
        look_up_digest(f"{address}/rocm/dev:1")


def test_a_tag_that_does_not_exist(address: str) -> None:
    """The error names the registry, the image and what to check."""
    with pytest.raises(
        InfrastructureError, match=rf"{address} did not return .*none:1: status 404"
    ) as raised:
        look_up_digest(f"{address}/none:1")
    assert "deploy/images.toml" in str(raised.value.hint)


def test_something_that_is_no_manifest(address: str) -> None:
    """The response may be the page of a proxy, for example."""
    _store(address, "rocm/dev:1", "text/html")
    with pytest.raises(InfrastructureError, match=r"sent 'text/html' instead of a manifest of .*rocm/dev:1"):
        look_up_digest(f"{address}/rocm/dev:1")


def test_a_registry_that_does_not_answer(tmp_path: Path) -> None:
    """The lock file stays as it is, and the error names the registry."""
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / vm_image.LOCK, tmp_path / "deploy")
    lock = tmp_path / vm_image.LOCK
    lock.write_text(lock.read_text().replace('"rocm/', '"127.0.0.1:9/rocm/'))
    before = lock.read_text()
    with pytest.raises(InfrastructureError, match=r"registry 127\.0\.0\.1:9 does not respond: ConnectError"):
        vm_image.lock(tmp_path)
    assert lock.read_text() == before


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("ubuntu:24.04", "https://registry-1.docker.io/v2/library/ubuntu/manifests/24.04"),
        ("rocm/dev:7.2.4", "https://registry-1.docker.io/v2/rocm/dev/manifests/7.2.4"),
        ("docker.io/rocm/dev:7", "https://registry-1.docker.io/v2/rocm/dev/manifests/7"),
        ("ghcr.io/you/vm:1", "https://ghcr.io/v2/you/vm/manifests/1"),
        ("localhost:5000/vm:1", "http://localhost:5000/v2/vm/manifests/1"),
    ],
)
def test_names_mean_what_they_mean_to_docker(name: str, url: str) -> None:
    """Without a registry an image is on Docker Hub; only a registry on loopback is used without TLS."""
    assert ImageReference.parse(name).manifest_url == url


@pytest.mark.parametrize("name", ["ubuntu", "", "ghcr.io/you/vm", "UBUNTU:1", "ubuntu:1@sha256:0", "a:b c"])
def test_a_name_without_a_tag_is_refused(name: str) -> None:
    """The error has the name and an example."""
    with pytest.raises(BadSetting, match="is not the name of an image with a tag") as raised:
        ImageReference.parse(name)
    assert "ubuntu:24.04" in str(raised.value.hint)
