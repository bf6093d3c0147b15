"""The secret seed of an attempt, and a commitment to it that can be published before anything runs.

The commitment is sent with the first event of the judge, the seed with the receipt. So the inputs are secret
before the run, can be generated again after it, and cannot have been chosen to suit the result. Revealing a
seed is harmless: every attempt draws a new one.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import field

from warmfront.value_class import dataclass


@dataclass(frozen=True)
class CommittedSeed:
    """A seed of the inputs, and the nonce that keeps a short seed from being guessed."""

    value: int = field(default_factory=lambda: secrets.randbits(128))
    nonce: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def text(self) -> str:
        """The seed in hexadecimal, as in a receipt."""
        return f"{self.value:032x}"

    @property
    def commitment(self) -> str:
        """The SHA-256 of `SEED:NONCE`, both in hexadecimal."""
        return commit(self.text, self.nonce)


def commit(seed: str, nonce: str) -> str:
    """Return the commitment to a seed."""
    return hashlib.sha256(f"{seed}:{nonce}".encode()).hexdigest()
