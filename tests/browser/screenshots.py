"""Take screenshots of every view and of the documentation, light and dark, 390, 1440 and 2560 pixels wide.

The views of accounts are those of a second service, at which people sign in.

Usage: python -m tests.browser.screenshots FOLDER

They are for review and the README; no test compares them.
"""

from __future__ import annotations

import re
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from playwright.sync_api import expect

from tests.browser.accounts_service import accounts_service
from tests.browser.browser_window import PHONE, Theme, Window, chromium, show_assembly, xray_editor
from tests.browser.populated_service import MATMUL, PopulatedService, populated_service
from tests.browser.problem_page import VERDICT_MS
from tests.support.services import EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

    from tests.browser.accounts_service import AccountsService

#: Whether the last line number is next to the last line.
_LINES_ARE_NUMBERED = """() => {
    const top = (name) => [...document.querySelectorAll(name)].at(-1).getBoundingClientRect().top;
    return Math.abs(top(".cm-lineNumbers .cm-gutterElement") - top(".cm-line")) < 4;
}"""

SIZES: dict[str, ViewportSize] = {
    "390": PHONE,
    "1440": {"width": 1440, "height": 900},
    "2560": {"width": 2560, "height": 1300},
}

DOCUMENTATION = (
    "",
    "quickstart/",
    "settings/",
    "glossary/",
    "cdna3/",
    "reference/http-api/",
    "reference/commands/",
)


def take(populated: PopulatedService, browser: Browser, folder: Path, theme: Theme, size: str) -> None:
    """Take a screenshot of every view with one theme and size."""
    window = Window(browser, populated.service.url, theme=theme, viewport=SIZES[size])
    for name, path in populated.views.items():
        page = window.open(path)
        if name == "submission-xray":
            _show_assembly(page)
        _wait_until_complete(page)
        page.screenshot(path=folder / f"{name}-{theme}-{size}.png", full_page=True)
    page = window.open("/problems/leaky-relu")
    _run(page, EXAMPLE)
    page.screenshot(path=folder / f"problem-run-{theme}-{size}.png", full_page=True)
    xray_editor(page)
    page.screenshot(path=folder / f"problem-xray-{theme}-{size}.png", full_page=True)
    show_assembly(page)
    page.screenshot(path=folder / f"problem-assembly-{theme}-{size}.png", full_page=True)
    page.get_by_role("tab", name="Cases").click()
    expect(page.get_by_role("heading", name="Your own cases")).to_be_visible()
    page.screenshot(path=folder / f"problem-cases-{theme}-{size}.png", full_page=True)
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name=re.compile("^Diff of")).last.click()
    expect(page.get_by_role("region", name="Source diff")).to_be_visible()
    page.screenshot(path=folder / f"problem-history-{theme}-{size}.png", full_page=True)
    page = window.open("/scratch")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_test_id("run-status")).to_have_attribute("data-status", "CHECKED", timeout=VERDICT_MS)
    page.screenshot(path=folder / f"scratch-launch-{theme}-{size}.png", full_page=True)
    window.close()


def take_accounts(accounts: AccountsService, browser: Browser, folder: Path, theme: Theme, size: str) -> None:
    """Take a screenshot of every view of accounts, of the menu, and of the dialogs."""
    window = Window(browser, accounts.service.url, theme=theme, viewport=SIZES[size])
    for name, (person, path) in accounts.views.items():
        page = accounts.open(window, person, path)
        _wait_until_complete(page)
        page.screenshot(path=folder / f"{name}-{theme}-{size}.png", full_page=True)
    for name, (person, path, button) in accounts.dialogs.items():
        page = accounts.open(window, person, path)
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("dialog").or_(page.get_by_role("region", name="Sharing"))).to_be_visible()
        expect(page.get_by_text("Computing what this saves or costs…")).to_have_count(0)
        page.screenshot(path=folder / f"{name}-{theme}-{size}.png")
    page = accounts.open(window, "lena", "/account")
    page.locator(".account-menu > summary").click()
    page.screenshot(path=folder / f"account-menu-{theme}-{size}.png")
    window.close()


def take_documentation(url: str, browser: Browser, folder: Path, theme: Theme, size: str) -> None:
    """Take a screenshot of one page of the documentation of each kind, and of its search."""
    window = Window(browser, url, theme=theme, viewport=SIZES[size])
    page = window.page
    for name in DOCUMENTATION:
        page.goto(f"/docs/{name}")
        expect(page.locator("[data-md-component=content] h1")).to_be_visible()
        page.evaluate("document.fonts.ready.then(() => true)")
        page.screenshot(
            path=folder / f"docs-{name.strip('/').replace('/', '-') or 'home'}-{theme}-{size}.png"
        )
    page.keyboard.press("f")
    page.keyboard.type("occupancy")
    expect(page.locator(".md-search-result__item").first).to_be_visible()
    page.screenshot(path=folder / f"docs-search-{theme}-{size}.png")
    window.close()


def _wait_until_complete(page: Page) -> None:
    """Wait for the parts that load late: the simulation, and the editor, which measures its lines."""
    expect(page.get_by_role("progressbar", name="Replaying this month")).to_have_count(0)
    if page.locator(".cm-editor").count() > 0:
        page.locator(".cm-editor").scroll_into_view_if_needed()
        page.wait_for_function(_LINES_ARE_NUMBERED)
        page.evaluate("window.scrollTo(0, 0)")


def _show_assembly(page: Page) -> None:
    page.get_by_role("button", name="Show assembly").click()
    expect(page.get_by_role("listbox")).to_have_count(2)
    page.get_by_role("option").filter(has_text="reinterpret_cast<float4*>").first.hover()


def _run(page: Page, code: str) -> None:
    editor = page.locator(".cm-content")
    editor.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)
    page.get_by_role("button", name=re.compile("^Submit")).click()
    expect(page.get_by_test_id("run-status")).to_have_attribute("data-status", "ACCEPTED", timeout=VERDICT_MS)
    expect(page.locator(".run-panel .chart-placeholder")).to_have_count(0)
    expect(page.locator(".run-panel canvas").first).to_be_visible()


def main() -> None:
    """Write all screenshots to the folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        populated_service(Path(data)) as populated,
        chromium() as browser,
    ):
        populated.service.judged(code=MATMUL, problem="matmul", endpoint="benchmark")
        for theme, size in product(get_args(Theme), SIZES):
            take(populated, browser, folder, theme, size)
            take_documentation(populated.service.url, browser, folder, theme, size)
    with (
        tempfile.TemporaryDirectory() as data,
        accounts_service(Path(data)) as accounts,
        chromium() as browser,
    ):
        for theme, size in product(get_args(Theme), SIZES):
            take_accounts(accounts, browser, folder, theme, size)
    print(f"{len(list(folder.glob('*.png')))} screenshots in {folder}")


if __name__ == "__main__":
    main()
