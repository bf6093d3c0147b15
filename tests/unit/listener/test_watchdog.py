"""The watchdog ends a listener without contact to the control plane."""

from __future__ import annotations

import os
import threading
import time

import pytest

from warmfront.listener import watchdog
from warmfront.listener.app import ControlPlaneContact
from warmfront.listener.watchdog import FORCED_EXIT_CODE, Watchdog


@pytest.fixture(name="exit_codes")
def _exit_codes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record exit codes instead of ending the process, and do not wait for the shutdown."""
    codes: list[int] = []
    monkeypatch.setattr(watchdog, "GRACE_S", 0.0)
    monkeypatch.setattr(os, "_exit", codes.append)
    return codes


def test_silence_starts_a_shutdown_and_then_forces_the_exit(exit_codes: list[int]) -> None:
    """After `limit_s` without a request, the shutdown starts; a hanging process is forced to exit."""
    calls: list[str] = []
    contact = ControlPlaneContact(last_request=time.monotonic() - 10.0)
    Watchdog(
        contact, 5.0, shut_down=lambda: calls.append("shut down"), force=lambda: calls.append("force")
    ).run()
    assert calls == ["shut down", "force"]
    assert exit_codes == [FORCED_EXIT_CODE]


@pytest.mark.usefixtures("exit_codes")
def test_a_request_resets_the_watchdog() -> None:
    """The limit counts from the last request, not from the start."""
    contact = ControlPlaneContact()
    started, has_shut_down = time.monotonic(), threading.Event()
    dog = Watchdog(contact, 0.2, shut_down=has_shut_down.set, force=lambda: None)
    contact.last_request = started + 0.1
    dog.start()
    has_shut_down.wait()
    assert time.monotonic() >= contact.last_request + 0.2
    dog.join()


def test_an_expected_end_is_forced_without_a_shutdown(exit_codes: list[int]) -> None:
    """If the listener already shuts down, the watchdog only enforces the grace period."""
    calls: list[str] = []
    dog = Watchdog(
        ControlPlaneContact(),
        1e6,
        shut_down=lambda: calls.append("shut down"),
        force=lambda: calls.append("force"),
    )
    dog.expect_end()
    dog.run()
    assert calls == ["force"]
    assert exit_codes == [FORCED_EXIT_CODE]


def test_a_cleanup_that_hangs_does_not_prevent_the_exit(
    exit_codes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process exits even if the forced cleanup blocks."""
    monkeypatch.setattr(watchdog, "FORCE_S", 0.0)
    blocked = threading.Event()
    dog = Watchdog(ControlPlaneContact(), 1e6, shut_down=lambda: None, force=blocked.wait)
    dog.expect_end()
    dog.run()
    blocked.set()
    assert exit_codes == [FORCED_EXIT_CODE]
