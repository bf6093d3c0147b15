"""The rows of the store as values. Times are seconds since 1970, money is `Decimal` dollars."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.submission import Submission


@dataclass(frozen=True, kw_only=True)
class StoredEvent:
    """One event of the log."""

    submission_id: str
    id: int  #: from 1, without gap
    time: float
    fields: dict[str, Any]  #: `status` first

    @property
    def status(self) -> str:
        """What happened."""
        return str(self.fields["status"])


@dataclass(frozen=True, kw_only=True)
class AttemptRecord:
    """One try on one VM."""

    id: str
    submission_id: str
    vm_id: str
    number: int  #: 1 for the first
    started_at: float
    last_seq: int = 0  #: the listener's events are stored up to here
    ended_at: float | None = None
    outcome: str = ""  #: a verdict, or LOST
    cold: bool = False  #: its VM was booted for it
    reason: str = ""  #: why it was lost


class Running(NamedTuple):
    """A submission that is on a VM now."""

    vm_id: str
    started_at: float  #: its attempt
    submission_id: str
    owner: str
    problem: str
    endpoint: str


class Meter(StrEnum):
    """What a VM did while an interval was billed."""

    PROVISIONING = "PROVISIONING"
    WORK = "WORK"
    IDLE = "IDLE"


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One billed interval of one VM. Provisioning and idle belong to the submission served next."""

    vm_id: str
    meter: Meter
    started_at: float
    ended_at: float
    amount_usd: Decimal
    submission_id: str | None = None  #: None: nobody came any more
    owner: str | None = None


class Role(StrEnum):
    """What a key may do."""

    USER = "user"
    OPERATOR = "operator"


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key, but for its secret."""

    id: str
    user: str
    role: Role
    created_at: float
    revoked_at: float | None = None
    team: str | None = None  #: whose dollars a day are counted together


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some of a list, and where the next ones begin."""

    items: list[Submission] = field(default_factory=list)
    next_cursor: str | None = None
