"""Every view, light and dark: axe-core and the console are silent, and the content-security policy holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from playwright.sync_api import expect

from tests.browser.browsing import PHONE, Theme, Window, xray_of_editor
from tests.support.services import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.gallery import Gallery

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

#: Fails as it should: its address leads nowhere, and browsers say so in the console.
LOST = "lost"


def test_no_view_has_a_violation(browser: Browser, gallery: Gallery) -> None:
    """Contrast, names, roles, order of headings, focus: axe-core finds nothing, and the console is silent."""
    window = Window(browser, gallery.service.url)
    told: list[str] = []
    for name, path in gallery.views.items():
        window.page.emulate_media(color_scheme="light")
        page = window.open(path)
        if name == "submission-xray":
            page.get_by_role("button", name="Show the assembly").click()
            expect(page.get_by_role("listbox")).to_have_count(2)
        if name == "problem":
            xray_of_editor(page)
        for theme in get_args(Theme):
            page.emulate_media(color_scheme=theme)
            told += [f"{name}, {theme}: {each}" for each in violations(page)]
        told += [f"{name}: {each}" for each in window.complaints if name != LOST]
        window.complaints.clear()
    window.close()
    assert not told, "\n".join(told)


def test_a_phone_has_all_of_it(browser: Browser, gallery: Gallery) -> None:
    """At 390 pixels nothing sticks out to the right; what is wide scrolls by itself, by keys too."""
    window = Window(browser, gallery.service.url, viewport=PHONE)
    told: list[str] = []
    for name, path in gallery.views.items():
        page = window.open(path)
        wider_px = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wider_px > 0:
            told.append(f"{name}: {wider_px} pixels too wide")
        told += [f"{name}: {each}" for each in violations(page)]
    window.close()
    assert not told, "\n".join(told)


def test_an_inline_script_does_not_run(browser: Browser, gallery: Gallery) -> None:
    """Every view is sent with a policy without `unsafe-inline` for scripts, and the browser keeps to it."""
    window = Window(browser, gallery.service.url)
    for path in gallery.views.values():
        answer = window.page.goto(path)
        assert answer is not None
        policy = answer.header_value("content-security-policy") or ""
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["script-src"] == "'self'"
        assert "unsafe" not in policy
    refused = window.page.evaluate(
        """() => new Promise((resolve) => {
            const told = (event) => resolve(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", told);
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.body.append(script);
        })"""
    )
    assert refused == "script-src-elem"
    assert window.page.evaluate("window.ran") is None
    window.close()


def violations(page: Page) -> list[str]:
    """What axe-core says of a page as it is now; the debugger hands it over, so no policy is bent for it."""
    page.evaluate(AXE.read_text())
    result: dict[str, Any] = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {each['help']}: {' | '.join(node['html'][:160] for node in each['nodes'][:3])}"
        for each in result["violations"]
    ]
