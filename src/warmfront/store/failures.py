"""What a database's error means to us: the database's own trouble, the caller's, or a bug.

Messages keep the database's reason and never the password of its address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from warmfront.errors import BadRequest, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import URL

#: A connection that broke leaves libpq's and the driver's own words over many lines; the first ones say it.
_LONGEST = 300


def is_trouble(error: Exception) -> bool:
    """Whether the database could not do it: gone, full, locked, read-only, damaged. The rest are bugs."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated or error.statement is None:  # None: it came to no statement
        return True
    return not isinstance(error, IntegrityError | DataError | ProgrammingError)


def is_cut(error: Exception) -> bool:
    """Whether the connection is of no use any more."""
    return isinstance(error, DBAPIError) and error.connection_invalidated


def explained(error: Exception, url: URL) -> Exception:
    """The error as callers should see it; one that is theirs alone comes back as it is."""
    if is_trouble(error):
        return unavailable(error, url)
    if isinstance(error, DataError | UnicodeEncodeError):
        return BadRequest(
            "A text has a character that the database cannot hold.",
            hint="Leave out NUL and halves of surrogate pairs.",
        )
    return error


def unavailable(error: Exception, url: URL) -> StoreUnavailable:
    """Which database, why, and what to do."""
    cause = getattr(error, "orig", None) or error
    reason = " ".join(without_secrets(str(cause), url).split())[:_LONGEST]
    return StoreUnavailable(f"The database {name_of(url)} cannot be used: {reason}", hint=_hint(reason))


def name_of(url: URL) -> str:
    """The database as a person would call it."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    port = f":{url.port}" if url.port else ""
    return f"{url.database or ''} on {url.host or 'the local socket'}{port}"


def without_secrets(text: str, url: URL) -> str:
    """The text without any password that is in the address."""
    given = [url.password, url.query.get("password"), url.query.get("sslpassword")]
    for secret in given:
        if isinstance(secret, str) and secret:
            text = text.replace(secret, "***")
    return text


def _hint(reason: str) -> str:
    if "full" in reason or "No space left" in reason:
        return "Make room on its disk; the service goes on by itself."
    if "locked" in reason:
        return "Another program holds it; the service goes on by itself when that is done."
    return "The service goes on by itself when the database is back."
