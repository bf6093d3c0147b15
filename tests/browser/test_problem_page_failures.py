"""Tests of a problem's page when the service is unreachable, out of budget, or requires a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.browser.problem_page import ProblemPage
from tests.support.services import EXAMPLE, REHEARSAL, serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_killed_and_restarted_service_loses_nothing(browser: Browser, tmp_path: Path) -> None:
    """The page shows a banner, then the run continues; a run started meanwhile is sent once."""
    with serving(tmp_path, **{**REHEARSAL, "WARMFRONT_REHEARSE_BOOT": "2"}) as service:
        problem = ProblemPage(browser, service.url)
        banner = problem.page.get_by_role("status").filter(has_text="The service is unreachable")
        problem.write(EXAMPLE)
        problem.press("Run")
        expect(problem.stage("VM")).to_have_attribute("data-state", "now")
        service.kill()
        expect(banner).to_be_visible()
        expect(problem.page.get_by_text("the run continues")).to_be_visible()
        service.start()
        problem.expect_verdict("CHECKED")
        expect(banner).to_have_count(0)
        service.kill()
        problem.press("Run")
        expect(problem.run_status).to_contain_text("Sending")
        service.start()
        problem.expect_verdict("CHECKED")
        assert len(service.get("submissions")["items"]) == 2
        expect(problem.editor).to_contain_text("leaky_relu")
        problem.window.close()


def test_insufficient_credits_are_shown_before_a_run(browser: Browser, tmp_path: Path) -> None:
    """The page shows the amounts, and the buttons are disabled."""
    with serving(tmp_path, **REHEARSAL, AMD_GRANT_CREDITS_TOTAL="0.01") as service:
        problem = ProblemPage(browser, service.url)
        alert = problem.page.get_by_role("alert")
        expect(alert).to_contain_text("The budget does not cover a run.")
        expect(alert).to_contain_text("0.01")
        expect(problem.page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
        problem.window.close()


def test_a_missing_or_revoked_key_is_requested(browser: Browser, tmp_path: Path) -> None:
    """With a valid key the page continues; after "Not now" the dialog can be opened again."""
    with serving(tmp_path, **REHEARSAL) as service:
        output = service.run("keys", "create", "--user", "ada").stdout
        secret = next(word for word in output.split() if word.startswith("wf_"))
        for stored in ("null", '"wf_revoked"'):
            window = Window(browser, service.url)
            window.context.add_init_script(f"if ({stored}) localStorage['warmfront.key'] ??= {stored}")
            window.page.goto("/problems/leaky-relu")
            window.page.get_by_role("button", name="Not now").click()
            window.page.get_by_role("button", name="Enter API key").click()
            window.page.get_by_label("API key", exact=True).fill(secret)
            window.page.get_by_role("button", name="Use this key").click()
            expect(window.page.locator(".cm-content")).to_be_visible()
            window.close()
