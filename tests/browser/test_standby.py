"""A page that is open while the active service is killed: it continues on the standby's address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.support.standby_pair import standby_pair

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.support.databases import PostgresServer


def test_a_page_on_a_standby_follows_and_then_runs(
    browser: Browser, tmp_path: Path, postgres: PostgresServer
) -> None:
    """It shows a run, says that it is on standby, and accepts runs after the takeover."""
    with standby_pair(tmp_path, postgres.new_database(tables=False), WARMFRONT_BUG_FINDER="false") as pair:
        submission_id = pair.active.submit(endpoint="checker")
        window = Window(browser, pair.standby.url)
        page = window.open(f"/submissions/{submission_id}")
        expect(page.get_by_text("Checked", exact=True).first).to_be_visible(timeout=120_000)
        page = window.open("/problems/leaky-relu")
        expect(page.get_by_text("This service is on standby")).to_be_visible()
        pair.active.kill()
        pair.wait_for_takeover()
        expect(page.get_by_text("This service is on standby")).to_have_count(0)
        page.reload()
        expect(page.get_by_test_id("quote")).to_contain_text("Estimate")
        window.close()
