"""Debian's Chromium, and a page that remembers what its console complained of."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal

from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

CHROMIUM = "/usr/bin/chromium"
SWITCHES = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: Two loaded cores take their time.
PATIENCE_MS = 30_000
DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}

Theme = Literal["light", "dark"]


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own."""
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        yield browser
        browser.close()


def xray_of_editor(page: Page) -> None:
    """On a problem's page: the X-ray of what stands in the editor, with the assembly."""
    page.get_by_role("tab", name="X-ray").click()
    page.get_by_role("button", name="X-ray this code").click()
    expect(page.get_by_role("listbox")).to_have_count(2)


class Window:
    """A page of a service in a profile of its own."""

    def __init__(self, browser: Browser, url: str, *, theme: Theme = "light", **options: Any) -> None:
        settings = {"viewport": DESKTOP, "color_scheme": theme, "reduced_motion": "reduce", **options}
        self.context = browser.new_context(base_url=url, **settings)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []  #: errors and warnings of the console, and what was thrown
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(f"thrown: {error}"))

    def open(self, path: str) -> Page:
        """Go to a path, and return when its view has what it shows."""
        self.page.goto(path)
        expect(self.page.locator("h1").first).to_be_visible()
        expect(self.page.get_by_text("Loading…")).to_have_count(0)
        # Editor, formulas and their fonts come after.
        expect(self.page.locator(".editor-waiting, .tex-block > span:empty")).to_have_count(0)
        self.page.evaluate("document.fonts.ready.then(() => true)")
        return self.page

    def close(self) -> None:
        """Forget the profile."""
        self.context.close()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text} ({message.location['url']})")
