"""Images as layers: the duration of a pull depends on the layers that the VM does not have yet.

Only sizes are modeled; there is nothing in a layer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A pull advances in steps of this length, so that its progress can be read.
_STEP_S = 0.05


@dataclass(frozen=True)
class Layer:
    """A layer, which images may share."""

    digest: str
    size_bytes: int


@dataclass(kw_only=True)
class LayerCache:
    """The layers that one VM has."""

    digests: set[str] = field(default_factory=set)

    def missing(self, layers: Sequence[Layer]) -> list[Layer]:
        """Return the layers that have to be pulled."""
        return [layer for layer in layers if layer.digest not in self.digests]


@dataclass(kw_only=True)
class Pull:
    """The pull of one image to a VM, with its progress."""

    layers: Sequence[Layer]  #: those that the VM does not have
    downloaded_bytes: int = 0

    @property
    def total_bytes(self) -> int:
        """The bytes to pull, without cached layers."""
        return sum(layer.size_bytes for layer in self.layers)

    def describe(self) -> dict[str, Any]:
        """Return the progress in the shim's format."""
        return {
            "downloaded_bytes": self.downloaded_bytes,
            "extracted_bytes": self.downloaded_bytes,
            "total_bytes": self.total_bytes,
            "is_total_bytes_final": True,
        }

    async def run(self, cache: LayerCache, bytes_per_s: float) -> None:
        """Pull the layers one after the other; a pull that is cancelled keeps those that it completed."""
        for layer in self.layers:
            left_s = layer.size_bytes / bytes_per_s
            begun_bytes = self.downloaded_bytes
            while left_s > 0:
                step_s = min(_STEP_S, left_s)
                await asyncio.sleep(step_s)
                left_s -= step_s
                self.downloaded_bytes = begun_bytes + layer.size_bytes - round(left_s * bytes_per_s)
            self.downloaded_bytes = begun_bytes + layer.size_bytes
            cache.digests.add(layer.digest)
