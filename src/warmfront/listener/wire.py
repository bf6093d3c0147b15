"""What both ends of the HTTP connection must agree on, beside the protocol's values. Nothing is done here."""

from __future__ import annotations

#: On every stream: which status is terminal depends on the endpoint, so a client can tell a cut from an end.
ENDPOINT_HEADER = "Warmfront-Endpoint"

#: A silent stream gets an empty line this often, so that each side notices if the other is gone.
KEEP_ALIVE_S = 5.0

#: Silence after which a client gives a stream up: several signs of life are missing.
SILENCE_S = 30.0

#: Where a listener finds its token. Never in argv, which every user of the machine can read.
TOKEN_VARIABLE = "WARMFRONT_LISTENER_TOKEN"  # noqa: S105 - the name, not the token
