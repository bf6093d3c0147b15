"""A fixture with the HIP programs of the corpus."""

from __future__ import annotations

from tests.support.programs import programs

__all__ = ["programs"]
