"""The cookie of a sign-in in progress."""

from __future__ import annotations

import base64

import pytest

from warmfront.sign_in.transaction import SignInTransaction, local_path


def test_a_cookie_restores_the_transaction() -> None:
    """State, nonce and verifier are derived from the token, and differ."""
    transaction = SignInTransaction.begin("/problems?x=1", "inv_1")
    restored = SignInTransaction.parse(transaction.cookie())
    assert restored == transaction
    values = {transaction.token, transaction.state, transaction.nonce, transaction.code_verifier}
    assert len(values) == 4
    assert transaction.matches(transaction.state)
    assert not transaction.matches(SignInTransaction.begin("/", None).state)
    assert not transaction.matches("é")


@pytest.mark.parametrize("text", ["", "x", "[]", '["short", "/", ""]', '[1, "/", ""]', "\xff", "{}"])
def test_an_invalid_cookie_is_ignored(text: str) -> None:
    """Text that this service did not write is ignored."""
    assert SignInTransaction.parse(text) is None
    assert SignInTransaction.parse(base64.urlsafe_b64encode(text.encode()).decode()) is None
    assert SignInTransaction.parse(None) is None


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/problems/relu?tab=xray#code", "/problems/relu?tab=xray#code"),
        ("", "/"),
        ("problems", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("http://[", "/"),
        ("/" + "a" * 600, "/"),
    ],
)
def test_only_paths_of_this_service_are_returned_to(text: str, path: str) -> None:
    """A sign-in does not redirect to another site."""
    assert local_path(text) == path
