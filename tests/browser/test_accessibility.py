"""Accessibility and Content Security Policy: no violation and no console error in any view, light or dark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import DESKTOP, PHONE, Theme, Window, show_assembly, xray_editor
from tests.support.services import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

    from tests.browser.accounts_service import AccountsService
    from tests.browser.populated_service import PopulatedService

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

#: Requests something that does not exist, which browsers report in the console.
NOT_FOUND = "not-found"


def test_no_view_violates_accessibility_rules(browser: Browser, populated: PopulatedService) -> None:
    """Contrast, names, roles, heading order and focus pass axe-core, and the console has no errors."""
    window = Window(browser, populated.service.url)
    problems: list[str] = []
    for name, path in populated.views.items():
        window.page.emulate_media(color_scheme="light")
        page = window.open(path)
        if name == "submission-xray":
            page.get_by_role("button", name="Show assembly").click()
            expect(page.get_by_role("listbox")).to_have_count(2)
        if name == "problem":
            xray_editor(page)
            problems += [f"{name}, X-ray: {violation}" for violation in violations(page)]
            show_assembly(page)
            problems += [f"{name}, assembly: {violation}" for violation in violations(page)]
            page.get_by_role("tab", name="History").click()
            page.get_by_role("button", name=re.compile("^Diff of")).first.click()
        for theme in get_args(Theme):
            page.emulate_media(color_scheme=theme)
            problems += [f"{name}, {theme}: {violation}" for violation in violations(page)]
        problems += [f"{name}: {error}" for error in window.console_errors if name != NOT_FOUND]
        window.console_errors.clear()
    window.close()
    assert not problems, "\n".join(problems)


def test_every_view_fits_on_a_phone(browser: Browser, populated: PopulatedService) -> None:
    """At 390 pixels no view is wider than the screen; wide tables scroll separately, also by keyboard."""
    window = Window(browser, populated.service.url, viewport=PHONE)
    problems: list[str] = []
    for name, path in populated.views.items():
        page = window.open(path)
        wider_px = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wider_px > 0:
            problems.append(f"{name}: {wider_px} pixels too wide")
        problems += [f"{name}: {violation}" for violation in violations(page)]
    window.close()
    assert not problems, "\n".join(problems)


@pytest.mark.issuer
@pytest.mark.parametrize(
    ("theme", "viewport"),
    [
        pytest.param("light", DESKTOP, marks=pytest.mark.slow, id="light"),
        pytest.param("dark", PHONE, id="phone"),
    ],
)
def test_views_of_accounts_are_accessible_and_fit(
    browser: Browser, accounts: AccountsService, theme: Theme, viewport: ViewportSize
) -> None:
    """No violation, no console error, nothing wider than the screen."""
    problems: list[str] = []
    window = Window(browser, accounts.service.url, theme=theme, viewport=viewport)
    for name, (person, path) in accounts.views.items():
        page = accounts.open(window, person, path)
        problems += [f"{name}: {violation}" for violation in violations(page)]
        wider_px = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        problems += [f"{name}: {wider_px} pixels too wide"] if wider_px > 0 else []
        problems += [f"{name}: {error}" for error in window.console_errors if " 403 " not in error]
        window.console_errors.clear()
    for name, (person, path, button) in accounts.dialogs.items():
        page = accounts.open(window, person, path)
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("dialog").or_(page.get_by_role("region", name="Sharing"))).to_be_visible()
        problems += [f"{name}: {violation}" for violation in violations(page)]
    window.close()
    assert not problems, "\n".join(problems)


def test_an_inline_script_does_not_run(browser: Browser, populated: PopulatedService) -> None:
    """Every view has a Content Security Policy without `unsafe-inline`, and the browser enforces it."""
    window = Window(browser, populated.service.url)
    for path in populated.views.values():
        response = window.page.goto(path)
        assert response is not None
        policy = response.header_value("content-security-policy") or ""
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["script-src"] == "'self'"
        assert "unsafe" not in policy
    blocked = window.page.evaluate(
        """() => new Promise((resolve) => {
            const report = (event) => resolve(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", report);
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        })"""
    )
    assert blocked == "script-src-elem"
    assert window.page.evaluate("window.ran") is None
    window.close()


def violations(page: Page) -> list[str]:
    """Run axe-core on the current page; the debugger injects it, so the policy does not have to allow it."""
    page.evaluate(AXE.read_text())
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {violation['help']}: "
        + " | ".join(node["html"][:160] for node in violation["nodes"][:3])
        for violation in result["violations"]
    ]
