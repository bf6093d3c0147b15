"""What the simulated cloud promises without dstack: where a task's paths are, and that clouds do not meet."""

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


def _places(tmp_path: Path, *, mounts: tuple[dict[str, Any], ...] = (), **spec: Any) -> PathMap:
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
def test_declared_paths_are_below_the_folder(tmp_path: Path, text: str, expected: str) -> None:
    """A declared path is replaced wherever it is named as a whole, and nothing else is."""
    places = _places(tmp_path, file_archives=[{"id": "1", "path": "/opt/a"}])
    assert places.rewrite(text) == expected.format(tmp_path / "root")


def test_volumes_outlive_containers(tmp_path: Path) -> None:
    """A volume is the VM's folder, not the container's; a socket of this machine stays where it is."""
    docker = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(docker))
        mounts = (
            {"instance_path": "/srv/boxes", "path": "/boxes"},
            {"instance_path": str(docker), "path": "/var/run/docker.sock"},
        )
        places = _places(tmp_path, mounts=mounts, working_dir="/boxes/work")
    assert places.working_dir == tmp_path / "host/srv/boxes/work"
    assert places.rewrite("ls /boxes /var/run/docker.sock") == f"ls {tmp_path}/host/srv/boxes {docker}"


def test_clouds_side_by_side() -> None:
    """Two clouds of one machine have VMs at different addresses, and each knows its own."""

    async def scenario() -> None:
        async with FakeCloud() as one, FakeCloud() as other:
            created = [await _create(cloud) for cloud in (one, other)]
            assert created == [500001, 500001]
            [first], [second] = one.droplets.values(), other.droplets.values()
            assert first.address != second.address
            await one.vanish("500001")
            assert (len(one.droplets), len(other.droplets)) == (0, 1)

    asyncio.run(scenario())


def test_wrong_key() -> None:
    """A request without the right key gets 401, and nothing else."""

    async def scenario() -> None:
        async with FakeCloud() as cloud, _client(cloud, key="wrong") as client:
            assert (await client.get(f"{_API}/account")).status_code == 401

    asyncio.run(scenario())


async def _create(cloud: FakeCloud) -> int:
    async with _client(cloud) as client:
        body = {"name": "one", "size": "gpu-mi300x1-192gb", "ssh_keys": []}
        droplet_id: int = (await client.post(f"{_API}/droplets", json=body)).json()["droplet"]["id"]
        return droplet_id


def _client(cloud: FakeCloud, key: str = amd_developer_cloud.KEY) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        proxy=cloud.environment["HTTPS_PROXY"],
        verify=ssl.create_default_context(cafile=cloud.environment["SSL_CERT_FILE"]),
        headers={"Authorization": f"Bearer {key}"},
        trust_env=False,
    )
