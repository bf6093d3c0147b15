"""Page object of a problem's page: write code, press buttons, read the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.support.services import EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

#: Provisioning, a check and a benchmark on a busy machine.
VERDICT_MS = 120_000

#: A kernel that never terminates.
ENDLESS = EXAMPLE.replace(
    "const size_t count = n * m;", "const size_t count = n * m;\n    for (volatile int i = 0;;) ++i;"
)

#: Records every title of the tab.
_TITLES = """
    window.titles = [];
    new MutationObserver(() => {
        if (window.titles.at(-1) !== document.title) window.titles.push(document.title);
    }).observe(document, { subtree: true, childList: true, characterData: true });
"""


class ProblemPage:
    """A window with one problem; without a slug it is empty, and the test opens the problem itself."""

    def __init__(self, browser: Browser, url: str, slug: str | None = "leaky-relu") -> None:
        self.window = Window(browser, url)
        self.window.context.add_init_script(_TITLES)
        self.page: Page = self.window.page
        if slug is not None:
            self.page.goto(f"/problems/{slug}")
            expect(self.editor).to_be_visible()

    @property
    def editor(self) -> Locator:
        """The content of the editor."""
        return self.page.locator(".cm-content")

    @property
    def run_status(self) -> Locator:
        """The headline of the run."""
        return self.page.get_by_test_id("run-status")

    def stage(self, name: str) -> Locator:
        """Return the line of a stage in the timeline."""
        return self.page.locator(f"[data-stage={name}]")

    def write(self, code: str) -> None:
        """Replace the code, as pasting does."""
        self.editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def expect_verdict(self, status: str) -> None:
        """Wait for the verdict and check it."""
        expect(self.run_status).not_to_have_attribute("data-status", "RUNNING", timeout=VERDICT_MS)
        expect(self.run_status).to_have_attribute("data-status", status)

    def titles(self) -> list[str]:
        """Return every title of the tab since it was loaded."""
        titles = self.page.evaluate("window.titles")
        assert isinstance(titles, list)
        return titles
