"""Decide which submissions CPU nodes judge: checks, whose verdict needs no GPU and no time.

The verdict of a CPU node is marked as simulated. A submission that is timed is never judged by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.gpus import CPU_NODE
from warmfront.providers.base import max_cpu_nodes
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings


class CpuNodeRouting:
    """The choice between CPU nodes and VMs with a GPU."""

    def __init__(self, provider: Provider, settings: Settings) -> None:
        self._has_cpu_nodes = max_cpu_nodes(provider) > 0
        # The listener of a CPU node executes kernels for this GPU type, so others need its instruction set.
        self._arch = gpus.get(settings.default_gpu).arch

    def accepts(self, endpoint: str, gpu: str) -> bool:
        """Return whether a CPU node judges submissions to this endpoint for this GPU type."""
        if not self._has_cpu_nodes or endpoint != Endpoint.CHECKER:
            return False
        known = gpus.by_name(gpu)
        return known is not None and known.arch == self._arch

    def vm_type(self, endpoint: str, gpu: str) -> str:
        """Return the GPU type of the VM that such a submission waits for, or `CPU_NODE`."""
        return CPU_NODE if self.accepts(endpoint, gpu) else gpu
