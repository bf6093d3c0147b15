"""The HIP programs of the corpus, as a fixture."""

from __future__ import annotations

from tests.support.programs import programs

__all__ = ["programs"]
