"""Debian's Chromium, and a window that records the errors of its console."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Literal

from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize

CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",  # there is none; without this, a process emulates it
]
#: Long enough for two loaded cores.
TIMEOUT_MS = 180_000
DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}

Theme = Literal["light", "dark"]


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser."""
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def xray_editor(page: Page) -> None:
    """Wait for the X-ray of the code in the editor of a problem's page, and show it."""
    page.get_by_role("tab", name="X-ray").click()
    expect(page.get_by_test_id("status-line")).to_have_attribute("data-state", "current")
    expect(page.get_by_role("img", name=re.compile("runs .* waves")).first).to_be_visible()


def show_assembly(page: Page) -> None:
    """Show the assembly beside the editor, with help on its first instruction."""
    page.get_by_role("tab", name="Assembly").click()
    page.get_by_role("listbox", name=re.compile("^Assembly of")).press("ArrowDown")
    expect(page.locator(".instruction-help code")).to_be_visible()


class Window:
    """A browser window with its own profile, on a service."""

    def __init__(self, browser: Browser, url: str, *, theme: Theme = "light", **options: Any) -> None:
        settings = {"viewport": DESKTOP, "color_scheme": theme, "reduced_motion": "reduce", **options}
        self.context = browser.new_context(base_url=url, **settings)
        self.context.set_default_timeout(TIMEOUT_MS)
        self.page: Page = self.context.new_page()
        self.console_errors: list[str] = []  #: errors and warnings of the console, and uncaught exceptions
        self.page.on("console", self._record)
        self.page.on("pageerror", lambda error: self.console_errors.append(f"uncaught: {error}"))

    def open(self, path: str) -> Page:
        """Open a path and wait until its view is complete."""
        self.page.goto(path)
        expect(self.page.locator("h1").first).to_be_visible()
        expect(self.page.get_by_text("Loading…")).to_have_count(0)
        # The editor, charts, formulas and their fonts load last.
        expect(
            self.page.locator(".editor-placeholder, .chart-placeholder, .tex-block > span:empty")
        ).to_have_count(0)
        self.page.evaluate("document.fonts.ready.then(() => true)")
        return self.page

    def close(self) -> None:
        """Close the window and delete its profile."""
        self.context.close()

    def _record(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.console_errors.append(f"{message.type}: {message.text} ({message.location['url']})")
