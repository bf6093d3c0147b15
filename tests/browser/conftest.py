"""What the tests in a browser share: one Chromium, and one service that has something of everything.

Both end with the last of these tests: Playwright has an event loop in this thread, and others need their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.browsing import chromium
from tests.browser.gallery import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.gallery import Gallery


@pytest.fixture(scope="package", name="gallery")
def _gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gallery]:
    with opened(tmp_path_factory.mktemp("gallery")) as gallery:
        yield gallery


@pytest.fixture(scope="package", name="browser")
def _browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser
