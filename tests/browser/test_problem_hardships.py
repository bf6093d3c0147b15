"""A problem's page when the service is away, broke, or behind a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.browsing import Window
from tests.browser.desk import Desk
from tests.support.services import EXAMPLE, REHEARSAL, serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_service_that_is_killed_and_started_again_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    """A banner, then the same run goes on to its verdict; what is pressed meanwhile is sent once."""
    with serving(tmp_path, **{**REHEARSAL, "WARMFRONT_REHEARSE_BOOT": "2"}) as service:
        desk = Desk(browser, service.url)
        away = desk.page.get_by_role("status").filter(has_text="The service does not answer")
        desk.write(EXAMPLE)
        desk.press("Run")
        expect(desk.stage("Machine")).to_have_attribute("data-state", "now")
        service.kill()
        expect(away).to_be_visible()
        expect(desk.page.get_by_text("nothing is lost")).to_be_visible()
        service.start()
        desk.expect_verdict("CHECKED")
        expect(away).to_have_count(0)
        service.kill()
        desk.press("Run")
        expect(desk.outcome).to_contain_text("Sending")
        service.start()
        desk.expect_verdict("CHECKED")
        assert len(service.get("submissions")["items"]) == 2
        expect(desk.editor).to_contain_text("leaky_relu")
        desk.window.close()


def test_credits_that_do_not_cover_a_run_are_told_before_it(browser: Browser, tmp_path: Path) -> None:
    """The page says so with the numbers, and the buttons wait."""
    with serving(tmp_path, **REHEARSAL, AMD_GRANT_CREDITS_TOTAL="0.01") as service:
        desk = Desk(browser, service.url)
        alert = desk.page.get_by_role("alert")
        expect(alert).to_contain_text("The budget does not cover a run.")
        expect(alert).to_contain_text("0.01")
        expect(desk.page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
        desk.window.close()


def test_a_key_that_is_missing_or_revoked_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    """With the right one the page goes on where it was; who has none at hand finds the question again."""
    with serving(tmp_path, **REHEARSAL) as service:
        made = service.run("keys", "create", "--user", "ada").stdout
        secret = next(word for word in made.split() if word.startswith("wf_"))
        for kept in ("null", '"wf_revoked"'):
            window = Window(browser, service.url)
            window.context.add_init_script(f"if ({kept}) localStorage['warmfront.key'] ??= {kept}")
            window.page.goto("/problems/leaky-relu")
            window.page.get_by_role("button", name="Not now").click()
            window.page.get_by_role("button", name="Enter a key").click()
            window.page.get_by_label("API key", exact=True).fill(secret)
            window.page.get_by_role("button", name="Use this key").click()
            expect(window.page.locator(".cm-content")).to_be_visible()
            window.close()
