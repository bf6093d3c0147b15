"""Switches for the fake cloud's behaviour: how long things take, and what fails.

A test may change them at any time; each takes effect the next time that it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: For `broken` and `silent`: requests of any method.
ANY = "*"


@dataclass(kw_only=True)
class Switches:
    """The switches of one cloud."""

    boot_s: float = 0.3  #: from a VM's creation until it is active
    install_s: float = 0.2  #: from then until its shim responds
    pull_s: float = 0.2  #: for pulling an image that the VM does not have
    container_s: float = 0.1  #: for starting a container
    never_boots: bool = False  #: VMs created from now on never become active
    capacity: int | None = None  #: maximum number of VMs; None: unlimited
    unpullable: set[str] = field(default_factory=set)  #: images that cannot be pulled
    rejects_key: bool = False  #: whether the APIs reject every key
    broken: dict[str, int] = field(default_factory=dict)  #: failure status per HTTP method, or for ANY
    silent: set[str] = field(default_factory=set)  #: HTTP methods, or ANY, that get no response
    minimum_reservation_s: float = 0.0  #: the minimum time that Hot Aisle bills

    def reset(self) -> None:
        """Reset all switches to their defaults."""
        vars(self).update(vars(Switches()))

    def status_of(self, method: str) -> int | None:
        """Return the failure status for requests with this method, or None."""
        return self.broken.get(method, self.broken.get(ANY))

    def is_silent(self, method: str) -> bool:
        """Return whether requests with this method get no response."""
        return method in self.silent or ANY in self.silent
