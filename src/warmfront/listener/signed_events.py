"""Events as lines that nothing else can write: for where they travel among what everyone may print.

A line carries an HMAC of its attempt and its content, with a key that only the judge and the control plane
have. What is not signed is text, and is passed over.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from warmfront.listener.protocol import AttemptEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Where a judge finds its key; it takes it out of its environment before anything else.
KEY_VARIABLE = "WARMFRONT_ATTEMPT_KEY"
#: No line is longer; who prints on for ever without an end fills no memory.
MAX_LINE_BYTES = 16 << 20
_MARK = b"warmfront-event "


def sign_event(key: str, attempt_id: str, *, seq: int, fields: dict[str, Any], is_last: bool) -> str:
    """One event as a line."""
    content = {"seq": seq, "last": is_last, "fields": fields}
    body = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    return f"{_MARK.decode()}{_signature(key, attempt_id, body)} {body.decode()}"


class SignedEventReader:
    """Takes an attempt's events out of its output, each once and in order, however often they are seen."""

    def __init__(self, key: str, attempt_id: str, *, after: int = 0) -> None:
        self._key = key
        self._attempt_id = attempt_id
        self._rest = b""
        self.seen = after  #: the last event that was taken
        self.is_over = False  #: it was the verdict

    def feed(self, output: bytes) -> Iterator[AttemptEvent]:
        """More of the output."""
        *lines, rest = (self._rest + output).split(b"\n")
        self._rest = rest[:MAX_LINE_BYTES]
        for line in lines:
            found = self._read(line.strip())
            if found is not None and not self.is_over and found["seq"] == self.seen + 1:
                self.seen, self.is_over = found["seq"], found["last"]
                yield AttemptEvent(seq=self.seen, fields=found["fields"])

    def rewind(self) -> None:
        """The output is fed from its beginning again."""
        self._rest = b""

    def _read(self, line: bytes) -> dict[str, Any] | None:
        _, mark, signed = line.rpartition(_MARK)
        signature, _, body = signed.partition(b" ")
        expected = _signature(self._key, self._attempt_id, body)
        if not mark or not hmac.compare_digest(signature, expected.encode()):
            return None
        content: dict[str, Any] = json.loads(body)
        return content


def _signature(key: str, attempt_id: str, body: bytes) -> str:
    return hmac.new(key.encode(), attempt_id.encode() + b"\n" + body, hashlib.sha256).hexdigest()
