"""Tests of the documentation site in a real browser: search, policy, accessibility, widths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import PHONE, Window
from tests.browser.test_accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser.populated_service import PopulatedService

#: One page of each kind: prose, tables, code, generated reference, pictures.
PAGES = ("", "quickstart/", "settings/", "glossary/", "cdna3/", "reference/http-api/", "reference/commands/")


def test_the_page_leads_to_the_documentation(browser: Browser, populated: PopulatedService) -> None:
    """The navigation has a link to it, and its logo leads back."""
    window = Window(browser, populated.service.url)
    page = window.open("/problems")
    page.get_by_role("link", name="Docs").click()
    expect(page.get_by_role("heading", name="Warmfront", level=1)).to_be_visible()
    page.locator(".md-header__button.md-logo").click()
    expect(page.get_by_role("heading", name="Problems", level=1)).to_be_visible()
    assert window.console_errors == []
    window.close()


def test_the_search_finds_a_page(browser: Browser, populated: PopulatedService) -> None:
    """Typing shows pages with the word, and the first one opens; the policy blocks nothing of it."""
    window = Window(browser, populated.service.url)
    page = window.page
    page.goto("/docs/")
    # The search reads the text when a key is released, so `fill` is not enough.
    page.get_by_role("textbox", name="Search").press_sequentially("keep-warm policy")
    result = page.locator(".md-search-result__link").filter(has_text="Keep-warm policies").first
    expect(result).to_be_visible()
    result.click()
    expect(page).to_have_url(re.compile("/docs/keep-warm/"))
    expect(page.get_by_role("heading", name="Keep-warm policies", level=1)).to_be_visible()
    assert window.console_errors == []
    window.close()


#: The themes differ only in colors, which are the same on a phone.
VARIANTS: dict[str, dict[str, Any]] = {
    "light": {"theme": "light"},
    "dark": {"theme": "dark"},
    "phone": {"theme": "light", "viewport": PHONE},
}


@pytest.mark.parametrize(
    "variant",
    [pytest.param("light", marks=pytest.mark.slow), pytest.param("dark", marks=pytest.mark.slow), "phone"],
)
def test_no_page_violates_accessibility_rules(
    browser: Browser, populated: PopulatedService, variant: str
) -> None:
    """No page violates a rule or is wider than the screen."""
    problems: list[str] = []
    window = Window(browser, populated.service.url, **VARIANTS[variant])
    for name in PAGES:
        window.page.goto(f"/docs/{name}")
        expect(window.page.locator("[data-md-component=content] h1")).to_be_visible()
        problems += [f"{name}: {violation}" for violation in violations(window.page)]
        wider_px = window.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        problems += [f"{name}: {wider_px} pixels too wide"] if wider_px > 0 else []
    problems += window.console_errors
    window.close()
    assert not problems, "\n".join(problems)
