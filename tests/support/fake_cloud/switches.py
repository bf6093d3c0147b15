"""How a simulated cloud behaves: how long things take, and what goes wrong.

A test changes the fields of a running cloud at will; whoever reads one reads it when it matters. Nothing is
done here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: For `broken` and `silent`: requests of any method.
ANY = "*"


@dataclass(kw_only=True)
class Switches:
    """Of one cloud."""

    boot_s: float = 0.3  #: from a VM's creation until it is active; large: a slow boot
    install_s: float = 0.2  #: from there until its shim answers
    pull_s: float = 0.2  #: until an image is there that the VM did not have
    container_s: float = 0.1  #: until a container is up
    never_boots: bool = False  #: VMs created from now on stay new for ever
    capacity: int | None = None  #: VMs at once, and no more; None: any number
    unpullable: set[str] = field(default_factory=set)  #: images that the registry does not have
    rejects_key: bool = False  #: no API key is good
    broken: dict[str, int] = field(default_factory=dict)  #: HTTP method, or ANY → the status that it gets
    silent: set[str] = field(default_factory=set)  #: HTTP methods, or ANY, that get no answer
    minimum_reservation_s: float = 0.0  #: what a VM of Hot Aisle is billed for at least

    def reset(self) -> None:
        """Be as new."""
        vars(self).update(vars(Switches()))

    def status_of(self, method: str) -> int | None:
        """The failure that a request of this method gets."""
        return self.broken.get(method, self.broken.get(ANY))

    def is_silent(self, method: str) -> bool:
        """Whether a request of this method waits for ever."""
        return method in self.silent or ANY in self.silent
