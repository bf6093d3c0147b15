"""Where VMs come from. Every provider keeps the promise of `warmfront.providers.base.Provider`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import BadSetting

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings


def open_provider(settings: Settings, clock: Clock) -> Provider:
    """The provider that the settings name."""
    if settings.provider == "local":
        from warmfront.providers.local import LocalProvider  # noqa: PLC0415 - only the one that is used

        return LocalProvider(settings, clock=clock)
    if settings.provider == "dstack":
        from warmfront.dstack.client import DstackClient  # noqa: PLC0415 - as above
        from warmfront.providers.dstack import DstackProvider  # noqa: PLC0415 - as above

        return DstackProvider(settings, DstackClient.open(settings), clock=clock)
    raise BadSetting(
        f"There is no provider {settings.provider!r}.", hint="Set WARMFRONT_PROVIDER to local or dstack."
    )
