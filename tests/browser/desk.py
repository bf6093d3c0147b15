"""The problem's page as its author uses it: type, press, and see what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.browsing import Window
from tests.support.services import EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

#: A boot, a check and a benchmark on a machine that does much else.
VERDICT_MS = 120_000

#: Never comes to its end by itself.
ENDLESS = EXAMPLE.replace(
    "const size_t count = n * m;", "const size_t count = n * m;\n    for (volatile int i = 0;;) ++i;"
)

#: Keeps every title that the tab had.
_TITLES = """
    window.titles = [];
    new MutationObserver(() => {
        if (window.titles.at(-1) !== document.title) window.titles.push(document.title);
    }).observe(document, { subtree: true, childList: true, characterData: true });
"""


class Desk:
    """A window on one problem."""

    def __init__(self, browser: Browser, url: str, slug: str = "leaky-relu") -> None:
        self.window = Window(browser, url)
        self.window.context.add_init_script(_TITLES)
        self.page: Page = self.window.page
        self.page.goto(f"/problems/{slug}")
        expect(self.editor).to_be_visible()

    @property
    def editor(self) -> Locator:
        """Where the code is."""
        return self.page.locator(".cm-content")

    @property
    def outcome(self) -> Locator:
        """The headline of the run."""
        return self.page.get_by_test_id("outcome")

    def stage(self, name: str) -> Locator:
        """One line of the timeline."""
        return self.page.locator(f"[data-stage={name}]")

    def write(self, code: str) -> None:
        """Put other code in the place of what is there, as a paste does."""
        self.editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def expect_verdict(self, status: str) -> None:
        """Wait for the end, which must be this one."""
        expect(self.outcome).not_to_have_attribute("data-status", "RUNNING", timeout=VERDICT_MS)
        expect(self.outcome).to_have_attribute("data-status", status)

    def titles(self) -> list[str]:
        """Every title that the tab had since it was loaded."""
        found = self.page.evaluate("window.titles")
        assert isinstance(found, list)
        return found
