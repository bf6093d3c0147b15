"""`warmfront listener`: run the listener of a VM until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.cli.error_report import report_error
from warmfront.errors import WarmfrontError

if TYPE_CHECKING:
    from pathlib import Path


def run_listener(
    *,
    host: str,
    port: int,
    uds: Path | None,
    watchdog_s: float | None,
    announce: Path | None,
    toolchain: str | None,
) -> int:
    """Run the listener and return the exit code."""
    from warmfront.listener.server import ListenerOptions, serve

    try:
        configured = settings.load()
        options = ListenerOptions(
            host=host,
            port=port,
            watchdog_s=watchdog_s or configured.watchdog_s,
            announce=announce,
            toolchain=toolchain,
            uds=uds,
        )
        serve(options, configured)
    except WarmfrontError as error:
        return report_error(error)
    return 0
