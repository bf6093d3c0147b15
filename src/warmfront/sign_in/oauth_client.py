"""Authlib's OAuth client for httpx, which this project uses for all HTTP requests.

Authlib prefers a fork of httpx and warns where that is not installed. This is the only import, so that the
warning is silenced in one place.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    import authlib.deprecate  # sets its own filter

    warnings.simplefilter("ignore", authlib.deprecate.AuthlibDeprecationWarning)
    from authlib.integrations.base_client import OAuthError
    from authlib.integrations.httpx_client import AsyncOAuth2Client

__all__ = ["AsyncOAuth2Client", "OAuthError"]
