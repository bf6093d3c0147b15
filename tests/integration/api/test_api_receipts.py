"""Receipts over HTTP: signed with the verdict, downloaded exactly, verified with the published keys."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.api_harness import GOOD, ApiHarness, served
from tests.support.receipt_samples import accepted_fields
from warmfront.receipts.key_files import key_from_json
from warmfront.receipts.keyring import Keyring, open_keyring
from warmfront.receipts.signer import add_signed_receipt
from warmfront.receipts.verification import verify_receipt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warmfront.listener.protocol import AttemptEvent


@pytest.fixture(name="sign_with")
def _sign_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[ApiHarness], Keyring]:
    """Return a function that adds signing keys to a service, and listeners that send complete verdicts."""

    def prepare(harness: ApiHarness) -> Keyring:
        keyring = open_keyring(tmp_path)
        object.__setattr__(harness.service, "signing_keys", keyring)
        sign_receipt = partial(add_signed_receipt, keyring=keyring)
        monkeypatch.setattr(harness.orchestrator._attempts, "_sign_receipt", sign_receipt)
        execute = harness.listeners.execute

        async def complete(*arguments: Any) -> Any:
            async for event in execute(*arguments):
                yield _completed(event)

        monkeypatch.setattr(harness.listeners, "execute", complete)
        return keyring

    return prepare


def _completed(event: AttemptEvent) -> AttemptEvent:
    if event.fields["status"] != "ACCEPTED":
        return event
    return type(event)(seq=event.seq, fields=accepted_fields(GOOD, "leaky-relu"))


def test_a_receipt_is_signed_with_the_verdict(sign_with: Callable[[ApiHarness], Keyring]) -> None:
    """It has the id and the cost, and is valid with the keys that the service publishes."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        sign_with(harness)
        events = (await harness.client.submit(accept="*/*", endpoint="submit")).events()
        response = await harness.client.get("/api/amd/submissions/sub_1/receipt")
        keys = (await harness.client.get("/api/amd/keys")).json()["items"]
        assert response.status == 200
        assert response.body.decode() == events[-1]["signed_receipt"]
        body = verify_receipt(response.body, [key_from_json(key) for key in keys]).body
        assert body["submission_id"] == "sub_1"
        assert body["cost_usd"] == events[-1]["cost_usd"] > 0
        assert body["issued_at"] == events[-1]["time"]

    ask()


def test_every_key_is_published_without_authentication(sign_with: Callable[[ApiHarness], Keyring]) -> None:
    """Retired keys are listed too, and no private key is."""

    @served(start=False)
    async def ask(harness: ApiHarness) -> None:
        keyring = sign_with(harness)
        keyring.rotate()
        harness.key("ada")
        response = await harness.client.get("/api/amd/keys")
        old, new = response.json()["items"]
        assert (old["retired_at"] is None, new["retired_at"] is None) == (False, True)
        assert [old["id"], new["id"]] == [key.id for key in keyring.public_keys()]
        assert "private" not in json.dumps(response.json())

    ask()


@served()
async def test_a_submission_without_a_receipt(harness: ApiHarness) -> None:
    """The response is 404 and names the verdict."""
    await harness.client.submit(accept="*/*", endpoint="checker")
    response = await harness.client.get("/api/amd/submissions/sub_1/receipt")
    assert response.status == 404
    assert "CHECKED" in response.json()["detail"]


def test_another_users_receipt_is_not_found(sign_with: Callable[[ApiHarness], Keyring]) -> None:
    """The response is the same as for an unknown id."""

    @served()
    async def ask(harness: ApiHarness) -> None:
        sign_with(harness)
        ada, bob = harness.user("ada"), harness.user("bob")
        await ada.submit(accept="*/*", endpoint="submit")
        assert (await ada.get("/api/amd/submissions/sub_1/receipt")).status == 200
        refused = await bob.get("/api/amd/submissions/sub_1/receipt")
        assert (refused.status, refused.json()["detail"]) == (404, "There is no submission 'sub_1'.")

    ask()
