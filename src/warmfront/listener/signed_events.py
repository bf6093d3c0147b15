"""Sign event lines, to send them in an output stream to which other programs can write as well.

Each line has an HMAC of the attempt's id and the content, with a key that only the judge and the control
plane know. Lines without a valid signature are ignored.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

from warmfront.listener.event_fields import clean_fields
from warmfront.listener.protocol import AttemptEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The environment variable with the key. The judge removes it from its environment before anything else.
KEY_VARIABLE = "WARMFRONT_ATTEMPT_KEY"
#: Upper limit for the length of a line, so that endless output cannot exhaust the memory.
MAX_LINE_BYTES = 16 << 20
_MARK = b"warmfront-event "


def sign_event(key: str, attempt_id: str, *, seq: int, fields: dict[str, Any], is_last: bool) -> str:
    """Return one event as a signed line."""
    content = {"seq": seq, "last": is_last, "fields": fields}
    body = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    return f"{_MARK.decode()}{_signature(key, attempt_id, body)} {body.decode()}"


class SignedEventReader:
    """A parser for the events in an attempt's output.

    It yields each once and in order, even if fed repeatedly.
    """

    def __init__(self, key: str, attempt_id: str, *, after: int = 0) -> None:
        self._key = key
        self._attempt_id = attempt_id
        self._rest = b""
        self.last_seq = after  #: number of the last event that was returned
        self.has_verdict = False  #: whether that event was the verdict

    def feed(self, output: bytes) -> Iterator[AttemptEvent]:
        """Yield the new events in the next part of the output."""
        *lines, rest = (self._rest + output).split(b"\n")
        self._rest = rest[:MAX_LINE_BYTES]
        for line in lines:
            content = self._read(line.strip())
            if content is not None and not self.has_verdict and content["seq"] == self.last_seq + 1:
                self.last_seq, self.has_verdict = content["seq"], content["last"]
                yield AttemptEvent(seq=self.last_seq, fields=clean_fields(content["fields"]))

    def rewind(self) -> None:
        """Prepare to read the output again from its beginning."""
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
