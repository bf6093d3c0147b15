"""Switches for the fake cloud's behavior: how long things take, and what fails.

A test may change them at any time; each takes effect the next time that it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.support.fake_cloud.images import Layer
    from tests.support.fake_cloud.refusals import Refusal

#: For `broken` and `silent`: requests of any method.
ANY = "*"


@dataclass(kw_only=True)
class Switches:
    """The switches of one cloud."""

    boot_s: float = 0.3  #: from a VM's creation until it is active
    rocm_s: float = 0.0  #: for the preparation of ROCm: its driver is built and loaded at the first boot
    install_s: float = 0.2  #: from then until its shim responds
    pull_s: float = 0.2  #: for pulling an image that the VM does not have and that is not in `images`
    images: dict[str, tuple[Layer, ...]] = field(default_factory=dict)  #: images whose sizes are known
    bytes_per_s: float = 1e9  #: the bandwidth of a VM, for pulling these
    container_s: float = 0.1  #: for starting a container
    never_boots: bool = False  #: VMs created from now on never become active
    capacity: int | None = None  #: maximum number of VMs; None: unlimited
    image_environ: dict[str, str] = field(default_factory=dict)  #: variables that every image sets
    unpullable: set[str] = field(default_factory=set)  #: images that cannot be pulled
    rejects_key: bool = False  #: whether the APIs reject every key
    rejects_user_keys: bool = False  #: whether VMs accept only the dstack server's key, not its users'
    broken: dict[str, int] = field(default_factory=dict)  #: failure status per HTTP method, or for ANY
    silent: set[str] = field(default_factory=set)  #: HTTP methods, or ANY, that get no response
    answer_s: float = 0.0  #: how much later than a request takes effect the APIs answer it
    #: Worker tasks are listeners in the cloud's own process, whose attempts take this long; None: processes.
    light_attempt_s: float | None = None
    minimum_reservation_s: float = 0.0  #: the minimum time that Hot Aisle bills
    refuses_create: Refusal | None = None  #: how the cloud refuses to create a VM
    fails_after_create: Refusal | None = None  #: a VM is created and billed, but the request fails
    account_status: str = "active"  #: of AMD Developer Cloud: active, warning or locked
    #: The regions of AMD Developer Cloud, each with its maximum number of VMs; None: unlimited.
    regions: dict[str, int | None] = field(default_factory=lambda: {"atl1": None, "nyc2": None})
    extra_sizes: list[dict[str, Any]] = field(default_factory=list)  #: sizes that it offers in addition
    hot_aisle_price: float = 1.99  #: dollars per hour
    #: Dollars per hour of a spot MI300X of AMD Developer Cloud; None: it has no spot VMs, as in reality.
    spot_price: float | None = None
    records_actions: bool = True  #: whether AMD Developer Cloud says when it created and ended droplets
    reclaims_spot_after_s: float | None = None  #: spot VMs created from now on are reclaimed at this age
    clock_skew_s: float = 0.0  #: how far the cloud's clock is ahead, on its bill too
    vm_clock_skew_s: float = 0.0  #: how far the clocks of VMs are ahead, in what they report to dstack
    packet_loss: float = 0.0  #: on the network of VMs that boot from now on, from 0 to 1
    latency_s: float = 0.0  #: one way, on the same network

    @property
    def has_lossy_network(self) -> bool:
        """Whether VMs have a network with latency or packet loss."""
        return bool(self.packet_loss or self.latency_s)

    def reset(self) -> None:
        """Reset all switches to their defaults."""
        vars(self).update(vars(Switches()))

    def status_of(self, method: str) -> int | None:
        """Return the failure status for requests with this method, or None."""
        return self.broken.get(method, self.broken.get(ANY))

    def is_silent(self, method: str) -> bool:
        """Return whether requests with this method get no response."""
        return method in self.silent or ANY in self.silent
