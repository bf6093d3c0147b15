"""A simulated cloud that a real dstack server takes for AMD Developer Cloud and Hot Aisle.

It speaks their APIs, SSH and the protocols of dstack's shim and runner, on loopback;
docs/architecture/simulated-cloud.md says what is simulated and what is not.
"""

from warmfront.testing.cloud.bill import Billed
from warmfront.testing.cloud.simulated import SimulatedCloud
from warmfront.testing.cloud.switches import ANY, Switches
from warmfront.testing.cloud.threaded import CloudThread

__all__ = ["ANY", "Billed", "CloudThread", "SimulatedCloud", "Switches"]
