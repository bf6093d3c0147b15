"""Compile, check and benchmark a submission; decides the verdict from outside the sandbox."""

from warmfront.judge.judge import Judge

__all__ = ["Judge"]
