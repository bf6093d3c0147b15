"""Ownership of VMs: several services may share a cloud account, and none may touch another's VMs.

A service is identified by an owner id, which is created once per database. Providers label VMs with it if
other services can see them. VMs that were leased before labels were introduced are ours if our records have
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from decimal import Decimal

#: Hexadecimal digits of an owner id. It is part of the names of runs, which have at most 41 characters.
OWNER_ID_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """The identity of this service toward a provider."""

    id: str  #: the owner id of the database
    has_record: Callable[[str], Awaitable[bool]]  #: whether our records have the VM with this id


@dataclass(frozen=True, kw_only=True)
class ForeignVM:
    """A VM of the provider that is not ours. It is shown to operators and never touched."""

    name: str  #: the provider's name of the VM
    owner: str | None  #: the owner id of another service; None if no Warmfront service has labeled it
    used_by: str  #: the name of the current or last run on it
    fleet: str | None
    status: str  #: the status, as the provider names it
    hostname: str | None = None
    backend: str | None = None
    rate_usd_per_h: Decimal | None = None
    created_at: float | None = None
