"""Tests of the look of the page: its typeface and size, its selects, colors of difficulty, and motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.browser.populated_service import PopulatedService

MAX_FIRST_VIEW_BYTES = 300_000
_SIZES = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map((entry) => entry.encodedBodySize)"""
_DURATION = """() => {
    const moving = document.createElement("div");
    moving.className = "progress unknown";
    moving.append(document.createElement("div"));
    document.body.append(moving);
    return getComputedStyle(moving.firstChild).animationDuration;
}"""


@pytest.fixture(name="window")
def _window(browser: Browser, populated: PopulatedService) -> Iterator[Window]:
    window = Window(browser, populated.service.url, reduced_motion="no-preference")
    yield window
    window.close()
    assert window.console_errors == []


def test_the_first_view_is_small(window: Window) -> None:
    """Everything that the first view loads, with its data and the typeface, is less than 300 kB."""
    page = window.open("/")
    page.wait_for_load_state("networkidle")
    sizes: list[int] = page.evaluate(_SIZES)
    assert sum(sizes) < MAX_FIRST_VIEW_BYTES
    assert page.evaluate("document.fonts.check('16px \"Inter Variable\"')")


def test_a_difficulty_has_one_color(window: Window) -> None:
    """The same in the list of problems and on the page of a problem."""
    label = window.open("/problems").get_by_text("Easy", exact=True).locator("visible=true").first
    in_list = label.evaluate("(element) => getComputedStyle(element).color")
    label = window.open("/problems/leaky-relu").get_by_text("Easy", exact=True).first
    assert label.evaluate("(element) => getComputedStyle(element).color") == in_list


def test_motion_can_be_switched_off(window: Window) -> None:
    """The setting is applied at once and after a reload; without it, the system decides."""
    page = window.open("/settings")
    assert page.evaluate(_DURATION) == "1.6s"
    page.get_by_label("Motion").select_option("reduced")
    assert page.evaluate(_DURATION) == "0s"
    page = window.open("/problems")
    assert page.evaluate(_DURATION) == "0s"
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(_DURATION) == "0s"


def test_a_select_has_the_menu_of_the_page(window: Window) -> None:
    """Its menu is drawn by the style sheet, and works with the keyboard."""
    page = window.open("/problems")
    select = page.get_by_label("Difficulty")
    assert select.evaluate("(element) => getComputedStyle(element).appearance") == "base-select"
    select.focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("option", name="Hard")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(select).to_have_value("easy")
