"""Where VMs come from. Every provider keeps the promise of `warmfront.providers.base.Provider`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import BadSetting
from warmfront.listener.client import HttpListenerClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings


def open_provider(settings: Settings, clock: Clock) -> Provider:
    """The provider that the settings name."""
    if settings.provider == "local":
        from warmfront.providers.local.local_provider import LocalProvider  # noqa: PLC0415 - only the one that is used

        return LocalProvider(settings, clock=clock)
    if settings.provider == "dstack":
        from warmfront.providers.dstack.client import DstackClient  # noqa: PLC0415 - as above
        from warmfront.providers.dstack.direct_mode import DirectProvider  # noqa: PLC0415 - as above
        from warmfront.providers.dstack.pool_mode import DstackProvider  # noqa: PLC0415 - as above

        kind = DirectProvider if settings.dstack_mode == "direct" else DstackProvider
        return kind(settings, DstackClient.open(settings), clock=clock)
    raise BadSetting(
        f"There is no provider {settings.provider!r}.", hint="Set WARMFRONT_PROVIDER to local or dstack."
    )


def open_listeners(provider: Provider, token_of: Callable[[str], str]) -> ListenerClient:
    """What speaks to this provider's VMs: HTTP, where it has no way of its own."""
    own: Callable[[Callable[[str], str]], ListenerClient] | None = getattr(provider, "listeners", None)
    return own(token_of) if own is not None else HttpListenerClient(token_of)
