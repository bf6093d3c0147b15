"""Owner ids of services for tests of the dstack provider."""

from __future__ import annotations

from warmfront.providers.ownership import Ownership


def owner(owner_id: str, *recorded: str) -> Ownership:
    """Return the identity of a service that has records of these VMs only."""

    async def has_record(vm_id: str) -> bool:
        return vm_id in recorded

    return Ownership(id=owner_id, has_record=has_record)


OWNERSHIP = owner("0a1b2c3d")
OTHER = owner("ffffeeee")
