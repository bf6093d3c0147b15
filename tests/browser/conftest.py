"""Fixtures of the browser tests: one Chromium, and one service with data for every view.

Both end with the last test of this package: Playwright keeps an event loop in this thread, and other tests
need their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.accounts_service import accounts_service
from tests.browser.browser_window import chromium
from tests.browser.populated_service import populated_service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.accounts_service import AccountsService
    from tests.browser.populated_service import PopulatedService


@pytest.fixture(scope="package", name="populated")
def _populated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PopulatedService]:
    with populated_service(tmp_path_factory.mktemp("populated")) as populated:
        yield populated


@pytest.fixture(scope="package", name="accounts")
def _accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AccountsService]:
    with accounts_service(tmp_path_factory.mktemp("accounts-views")) as accounts:
        yield accounts


@pytest.fixture(scope="package", name="browser")
def _browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser
