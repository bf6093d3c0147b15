"""Tests of the charts in a real browser: crosshair, zoom, legend, table and export."""

from __future__ import annotations

import csv
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.browser.populated_service import PopulatedService

#: The number of pixels that are more red than blue, as the bars of samples are.
_RED_PIXELS = """(canvas) => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", {willReadFrequently: true});
    context.drawImage(canvas, 0, 0);
    const {data} = context.getImageData(0, 0, copy.width, copy.height);
    let red = 0;
    for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 0 && data[at] - data[at + 2] > 20) red += 1;
    }
    return red;
}"""


@pytest.fixture(name="window")
def _window(browser: Browser, populated: PopulatedService) -> Iterator[Window]:
    window = Window(browser, populated.service.url)
    yield window
    window.close()
    assert window.console_errors == []


def _first_distribution(window: Window, populated: PopulatedService) -> Locator:
    page = window.open(f"/submissions/{populated.on_gpu}")
    figure = page.get_by_role("region", name="Distribution of samples").get_by_role("figure").first
    expect(figure.locator("canvas")).to_be_visible()
    return figure


def test_a_chart_is_zoomed_with_the_pointer(window: Window, populated: PopulatedService) -> None:
    """Dragging zooms to the selection, a double click resets it, and the crosshair shows its values."""
    figure = _first_distribution(window, populated)
    plot = figure.locator(".u-over")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    mouse = window.page.mouse
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] * 0.1, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.4, middle)
    mouse.up()
    expect(figure.get_by_role("img", name=re.compile(r"Zoomed to [\d.]+ to [\d.]+, Time"))).to_be_visible()
    expect(figure.get_by_role("button", name="Reset zoom")).to_be_visible()
    expect(figure.locator(".plot-readout")).to_contain_text(re.compile(r"\d+ of 14"))
    mouse.dblclick(box["x"] + box["width"] / 2, middle)
    expect(figure.get_by_role("button", name="Reset zoom")).to_have_count(0)
    expect(figure.get_by_role("img", name=re.compile("Zoomed"))).to_have_count(0)


def test_a_chart_can_be_read_with_the_keyboard(window: Window, populated: PopulatedService) -> None:
    """Arrow keys move the crosshair and announce its values; plus, minus and 0 zoom."""
    figure = _first_distribution(window, populated)
    crosshair = figure.get_by_role("slider", name="Crosshair of distribution of n = 4096, m = 4096")
    crosshair.focus()
    window.page.keyboard.press("Home")
    first = crosshair.get_attribute("aria-valuetext")
    window.page.keyboard.press("ArrowRight")
    expect(crosshair).to_have_attribute("aria-valuenow", "1")
    expect(crosshair).to_have_attribute("aria-valuetext", re.compile(r"µs to .* µs: \d+ of 14"))
    assert first != crosshair.get_attribute("aria-valuetext")
    window.page.keyboard.press("+")
    expect(figure.get_by_role("img", name=re.compile("Zoomed to"))).to_be_visible()
    window.page.keyboard.press("0")
    expect(figure.get_by_role("img", name=re.compile("Zoomed to"))).to_have_count(0)


def test_the_legend_hides_a_series(window: Window, populated: PopulatedService) -> None:
    """An entry that is switched off is not drawn; switched on again, it is."""
    figure = _first_distribution(window, populated)
    entry = figure.get_by_role("button", name="Samples")
    expect(entry).to_have_attribute("aria-pressed", "true")
    canvas = figure.locator("canvas")
    before = canvas.evaluate(_RED_PIXELS)
    entry.click()
    expect(entry).to_have_attribute("aria-pressed", "false")
    window.page.mouse.move(0, 0)
    without = canvas.evaluate(_RED_PIXELS)
    assert without < before * 0.1
    entry.click()
    assert canvas.evaluate(_RED_PIXELS) > without


def test_a_chart_is_exported(window: Window, populated: PopulatedService) -> None:
    """The table, the CSV file and the picture have the same chart."""
    figure = _first_distribution(window, populated)
    figure.get_by_role("button", name="Table").click()
    rows = figure.get_by_role("region", name=re.compile("^distribution of")).get_by_role("row")
    lines = list(csv.DictReader(_saved(window.page, figure, "Save as CSV").read_text().splitlines()))
    expect(rows).to_have_count(1 + len(lines))
    assert sum(int(line["samples"]) for line in lines) == 14
    assert all(float(line["from_ms"]) < float(line["to_ms"]) for line in lines)
    picture = _saved(window.page, figure, "Save as PNG").read_bytes()
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    box = figure.locator("canvas").bounding_box()
    assert box is not None
    assert width > box["width"]
    assert height > box["height"]


def test_a_chart_follows_the_theme(window: Window, populated: PopulatedService) -> None:
    """The colors of a canvas change with the theme, without a reload."""
    figure = _first_distribution(window, populated)
    pixels = "(canvas) => canvas.toDataURL()"
    light = figure.locator("canvas").evaluate(pixels)
    window.page.emulate_media(color_scheme="dark")
    expect(figure.locator("canvas")).to_be_visible()
    assert figure.locator("canvas").evaluate(pixels) != light


def _saved(page: Page, figure: Locator, button: str) -> Path:
    with page.expect_download() as download:
        figure.get_by_role("button", name=button).click()
    return Path(download.value.path())
