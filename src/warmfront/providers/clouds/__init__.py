"""The clouds' own lists of their machines, read with read-only keys.

dstack reports a VM as terminated even if the cloud refused to delete it, or its backend was removed. Only the
cloud knows whether a machine still exists and is billed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import BadSetting
from warmfront.providers.clouds import amd_developer_cloud, hot_aisle
from warmfront.providers.clouds.amd_developer_cloud import AmdDeveloperCloud
from warmfront.providers.clouds.hot_aisle import HotAisle

if TYPE_CHECKING:
    from warmfront.providers.clouds.base import Cloud
    from warmfront.settings import Settings


def open_clouds(settings: Settings) -> list[Cloud]:
    """Return the clouds of AMD_BACKEND and AMD_CPU_BACKEND for which there is a key.

    Raises:
        BadSetting: There is a key for Hot Aisle, but its team is not set.
    """
    clouds: list[Cloud] = []
    if settings.devcloud_read_key and AmdDeveloperCloud.backend in settings.all_backends:
        clouds.append(AmdDeveloperCloud(settings.devcloud_read_key))
    if settings.hotaisle_read_key and HotAisle.backend in settings.all_backends:
        if not settings.hotaisle_team:
            raise BadSetting(
                "WARMFRONT_HOTAISLE_READ_KEY is set, but DSTACK_HOTAISLE_TEAM is not.",
                hint="Set DSTACK_HOTAISLE_TEAM to the handle of your team in Hot Aisle.",
            )
        clouds.append(HotAisle(settings.hotaisle_read_key, settings.hotaisle_team))
    return clouds


def end_command(settings: Settings, machine_id: str | None) -> str:
    """Return a shell command that ends a machine, or an instruction if there is no command.

    The command contains the variable name of a key that may delete, never the key itself.

    Args:
        settings: Our settings.
        machine_id: The backend and the cloud's own id, such as `amddevcloud/500001`; None if unknown.
    """
    backend, _, cloud_id = (machine_id or "").partition("/")
    if backend == AmdDeveloperCloud.backend:
        return amd_developer_cloud.end_command(cloud_id)
    if backend == HotAisle.backend:
        return hot_aisle.end_command(cloud_id, settings.hotaisle_team)
    return f"end {cloud_id or 'it'} in the console of {backend or settings.backend}"
