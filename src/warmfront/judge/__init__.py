"""Compile, check and benchmark a submission; decides the verdict from outside the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.judge.judge import Judge

__all__ = ["Judge"]


def __getattr__(name: str) -> object:
    """The judge, loaded when somebody asks for it: compilers may be begun before."""
    if name != "Judge":
        raise AttributeError(name)
    from warmfront.judge.judge import Judge  # noqa: PLC0415 - as said

    return Judge
