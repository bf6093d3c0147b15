"""Sign receipts: turn an ACCEPTED event into the bytes of a receipt."""

from __future__ import annotations

import base64
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from warmfront.errors import WarmfrontError
from warmfront.events import format_time
from warmfront.receipts.canonical import canonical_json
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.receipts.keyring import Keyring

log = logging.getLogger(__name__)

#: The format changes if the meaning of a field changes, or if `judge.statistics` computes a different score
#: from the same windows: a receipt must be verified as it was issued.
FORMAT = "warmfront-receipt/1"

#: The fields of the event that are part of the receipt.
_EVENT_FIELDS = (
    *("simulated", "passed_tests", "total_tests", "avg_runtime_ms", "avg_ci", "noisy", "cost_usd"),
)


def add_signed_receipt(
    fields: Mapping[str, Any],
    keyring: Keyring,
    *,
    submission_id: str | None,
    now: float,
    known_facts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the fields of an event, with a signed receipt if the event is ACCEPTED.

    If a receipt cannot be signed, the failure is logged and the verdict has no receipt.

    Args:
        fields: The event, with its cost.
        keyring: The keys to sign with.
        submission_id: None if the kernel was judged without a service.
        now: The time of issue, in seconds since 1970.
        known_facts: The facts that the judge must have stated: the control plane does not sign other sources
            or problems.
    """
    if fields["status"] != Verdict.ACCEPTED:
        return dict(fields)
    try:
        body = receipt_body(fields, submission_id=submission_id, now=now)
        _reject_contradictions(body, known_facts or {})
        signed = sign(body, keyring).decode()
    except (TypeError, ValueError, WarmfrontError) as error:
        log.error(  # noqa: TRY400 - the message has the reason
            "the receipt of %s cannot be signed: %s; the verdict is stored without it", submission_id, error
        )
        signed = ""
    return {**fields, "signed_receipt": signed}


def receipt_body(fields: Mapping[str, Any], *, submission_id: str | None, now: float) -> dict[str, Any]:
    """Return the signed content: the judge's facts, the score with its raw windows, the cost and the id.

    Raises:
        TypeError: The event lacks the facts or the times, because a judge of another release sent it.
    """
    facts, timings = fields.get("receipt"), fields.get("benchmark_results")
    if not isinstance(facts, dict) or not isinstance(timings, list):
        raise TypeError("the judge's event lacks its facts or its times")
    missing = {guarantee for timing in timings for guarantee in timing.get("missing_guarantees", ())}
    return {
        **facts,
        **{name: fields.get(name) for name in _EVENT_FIELDS},
        "format": FORMAT,
        "submission_id": submission_id,
        "issued_at": format_time(datetime.fromtimestamp(now, UTC)),
        "verdict": fields["status"],
        "missing_guarantees": sorted(missing),
        "timings": timings,
    }


def _reject_contradictions(body: Mapping[str, Any], known_facts: Mapping[str, str]) -> None:
    for name, known in known_facts.items():
        if body.get(name) != known:
            raise ValueError(
                f"the judge states {name} {str(body.get(name))[:80]!r}; the submission has {known!r}"
            )


def sign(body: Mapping[str, Any], keyring: Keyring) -> bytes:
    """Return the receipt as a file. Raises `ValueError` if the body has no canonical form."""
    key_id, signature = keyring.sign(canonical_json(body))
    receipt = {"body": body, "key_id": key_id, "signature": base64.b64encode(signature).decode()}
    return canonical_json(receipt)
