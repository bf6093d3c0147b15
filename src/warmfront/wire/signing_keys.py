"""The public keys that verify receipts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warmfront.wire.base import ResponseModel, Timestamp


class SigningKeyResponse(ResponseModel):
    """The public half of a key that signs, or has signed, receipts."""

    id: str = Field(description="The `key_id` of the receipts that it signed; derived from the key.")
    algorithm: Literal["Ed25519"]
    public_key: str = Field(description="The 32 bytes of the key, in base64.")
    pem: str = Field(description="The same key in PEM format, as used by OpenSSL.")
    created_at: Timestamp | None
    retired_at: Timestamp | None = Field(
        description="When another key replaced it; its receipts remain valid. Null while it signs."
    )


class SigningKeyListResponse(ResponseModel):
    """Every signing key of the service, oldest first."""

    items: list[SigningKeyResponse]
