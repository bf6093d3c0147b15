"""The fake cloud without dstack: path mapping, isolation of clouds, and authentication."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.fake_cloud import FakeCloud, amd_developer_cloud
from tests.support.fake_cloud.path_map import PathMap

if TYPE_CHECKING:
    from pathlib import Path

_API = f"https://{amd_developer_cloud.HOST}/v2"


def _path_map(tmp_path: Path, *, mounts: tuple[dict[str, Any], ...] = (), **spec: Any) -> PathMap:
    return PathMap(root=tmp_path / "root", host=tmp_path / "host", spec=spec, mounts=mounts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cat /opt/a/b.txt", "cat {}/opt/a/b.txt"),
        ("A=/opt/a:/opt/a", "A={0}/opt/a:{0}/opt/a"),
        ("'/opt/a'; /opt/a.", "'{0}/opt/a'; {0}/opt/a."),
        ("/opt/ab /opt/a-b /opt/a.b /x/opt/a /opt", "/opt/ab /opt/a-b /opt/a.b /x/opt/a /opt"),
    ],
)
def test_declared_paths_are_mapped(tmp_path: Path, text: str, expected: str) -> None:
    """A declared path is replaced where it is a whole path; other text is unchanged."""
    path_map = _path_map(tmp_path, file_archives=[{"id": "1", "path": "/opt/a"}])
    assert path_map.rewrite(text) == expected.format(tmp_path / "root")


def test_volumes_outlive_containers(tmp_path: Path) -> None:
    """A volume is in the VM's folder, not in the container's; a socket of this machine is unchanged."""
    docker = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(docker))
        mounts = (
            {"instance_path": "/srv/boxes", "path": "/boxes"},
            {"instance_path": str(docker), "path": "/var/run/docker.sock"},
        )
        path_map = _path_map(tmp_path, mounts=mounts, working_dir="/boxes/work")
    assert path_map.working_dir == tmp_path / "host/srv/boxes/work"
    assert path_map.rewrite("ls /boxes /var/run/docker.sock") == f"ls {tmp_path}/host/srv/boxes {docker}"


def test_clouds_side_by_side() -> None:
    """Two clouds on one machine have VMs at different addresses, and each lists only its own."""

    async def scenario() -> None:
        async with FakeCloud() as cloud, FakeCloud() as other:
            created = [await _create(each_cloud) for each_cloud in (cloud, other)]
            assert created == [500001, 500001]
            [first], [second] = cloud.droplets.values(), other.droplets.values()
            assert first.address != second.address
            await cloud.vanish("500001")
            assert (len(cloud.droplets), len(other.droplets)) == (0, 1)

    asyncio.run(scenario())


def test_wrong_key() -> None:
    """A request with a wrong key gets 401."""

    async def scenario() -> None:
        async with FakeCloud() as cloud, _client(cloud, key="wrong") as client:
            assert (await client.get(f"{_API}/account")).status_code == 401

    asyncio.run(scenario())


async def _create(cloud: FakeCloud) -> int:
    async with _client(cloud) as client:
        body = {"name": "vm", "size": "gpu-mi300x1-192gb", "ssh_keys": []}
        droplet_id: int = (await client.post(f"{_API}/droplets", json=body)).json()["droplet"]["id"]
        return droplet_id


def _client(cloud: FakeCloud, key: str = amd_developer_cloud.KEY) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        proxy=cloud.environment["HTTPS_PROXY"],
        verify=ssl.create_default_context(cafile=cloud.environment["SSL_CERT_FILE"]),
        headers={"Authorization": f"Bearer {key}"},
        trust_env=False,
    )
