"""The version of the wire schema and the header that carries it.

`docs/api.md` describes what can change within a version.
"""

from __future__ import annotations

from warmfront.events import SCHEMA_VERSION

__all__ = ["SCHEMA_VERSION", "SUPPORTED_VERSIONS", "VERSION_HEADER"]

VERSION_HEADER = "Warmfront-Version"

#: The versions that this server supports. An event's `schema` field has the same number.
SUPPORTED_VERSIONS = (SCHEMA_VERSION,)
