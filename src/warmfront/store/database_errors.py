"""Classify database errors: the database is unavailable, the input is bad, or it is a bug.

Messages keep the database's reason and never contain the password of its URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from warmfront.errors import BadRequest, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import URL

#: libpq reports a broken connection in many lines; the first ones contain the reason.
_MAX_REASON_CHARS = 300


def is_unavailable(error: Exception) -> bool:
    """Return whether the database is at fault: stopped, full, locked, read-only or damaged."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated or error.statement is None:  # None if it failed before any statement
        return True
    return not isinstance(error, IntegrityError | DataError | ProgrammingError)


def is_cut(error: Exception) -> bool:
    """Return whether the error means that the connection was lost."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def explained(error: Exception, url: URL) -> Exception:
    """Return the error that callers should see; bugs are returned unchanged."""
    if is_unavailable(error):
        return unavailable(error, url)
    if isinstance(error, DataError | UnicodeEncodeError):
        return BadRequest(
            "The text contains a character that the database cannot store.",
            hint="Remove NUL characters and unpaired surrogates.",
        )
    return error


def unavailable(error: Exception, url: URL) -> StoreUnavailable:
    """Return an error with the name of the database, the reason and a hint."""
    cause = getattr(error, "orig", None) or error
    reason = " ".join(without_secrets(str(cause), url).split())[:_MAX_REASON_CHARS]
    return StoreUnavailable(f"The database {name_of(url)} is unavailable: {reason}", hint=_hint(reason))


def name_of(url: URL) -> str:
    """Return the name of the database for messages, without credentials."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    port = f":{url.port}" if url.port else ""
    return f"{url.database or ''} on {url.host or 'the local socket'}{port}"


def without_secrets(text: str, url: URL) -> str:
    """Return the text with the passwords of the URL replaced."""
    secrets = [url.password, url.query.get("password"), url.query.get("sslpassword")]
    for secret in secrets:
        if isinstance(secret, str) and secret:
            text = text.replace(secret, "***")
    return text


def _hint(reason: str) -> str:
    if "full" in reason or "No space left" in reason:
        return "Free some space on its disk. The service then continues automatically."
    if "locked" in reason:
        return "Another program has locked it. The service continues automatically when the lock is released."
    return "The service continues automatically when the database is available again."
