"""Providers of VMs, one package each; `base.py` defines the interface that all of them implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import BadSetting
from warmfront.listener.client import HttpListenerClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.providers.base import Provider
    from warmfront.providers.ownership import Ownership
    from warmfront.settings import Settings


def open_provider(settings: Settings, clock: Clock, *, ownership: Ownership) -> Provider:
    """Open the configured provider, for the service with this owner id.

    Raises:
        BadSetting: There is no such provider; its settings are incomplete, such as the minimum reservation of
            a backend that has one; VMs cannot run on the backend; or the image of VMs has no digest and
            WARMFRONT_REQUIRE_DIGESTS is not false.
        DstackMissing: The dstack provider is set, and dstack's client is not installed.
        DstackDenied: The dstack server rejects the token. If the server does not respond, no error is raised.
    """
    if settings.provider == "local":
        from warmfront.providers.local.local_provider import LocalProvider  # noqa: PLC0415 - import only the provider in use

        return LocalProvider(settings, clock=clock)
    if settings.provider == "dstack":
        from warmfront.providers.dstack.backends import check_backends  # noqa: PLC0415 - import only the provider in use
        from warmfront.providers.dstack.client import DstackClient  # noqa: PLC0415 - import only the provider in use
        from warmfront.providers.dstack.configuration import (  # noqa: PLC0415 - import only the provider in use
            check_images,
            minimum_reservation_s,
        )
        from warmfront.providers.dstack.direct_mode import DirectProvider  # noqa: PLC0415 - import only the provider in use
        from warmfront.providers.dstack.pool_mode import DstackProvider  # noqa: PLC0415 - import only the provider in use

        check_backends(settings)
        check_images(settings)
        minimum_reservation_s(settings)  # fail now instead of when the first VM is billed
        provider_class = DirectProvider if settings.dstack_mode == "direct" else DstackProvider
        client = DstackClient.open_when_available(settings)
        return provider_class(settings, client, ownership=ownership, clock=clock)
    raise BadSetting(
        f"Unknown provider {settings.provider!r}.", hint="Set WARMFRONT_PROVIDER to local or dstack."
    )


def open_listeners(provider: Provider, token_of: Callable[[str], str]) -> ListenerClient:
    """Return the client for the listeners of this provider's VMs: the provider's own client, or HTTP.

    Args:
        provider: The provider of the VMs.
        token_of: Returns the token of a VM's listener, by the VM's id.
    """
    open_own: Callable[[Callable[[str], str]], ListenerClient] | None = getattr(provider, "listeners", None)
    return open_own(token_of) if open_own is not None else HttpListenerClient(token_of)
