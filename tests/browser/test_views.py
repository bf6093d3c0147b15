"""Submissions, their figures, comparison and leaderboard in a real browser, on what a real service judged."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Window, xray_of_editor
from tests.browser.gallery import MATMUL
from tests.support.services import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.browser.gallery import Gallery


@pytest.fixture(name="window")
def _window(browser: Browser, gallery: Gallery) -> Iterator[Window]:
    window = Window(browser, gallery.service.url)
    yield window
    window.close()
    assert window.complaints == []


def test_a_submission_shows_its_figures(window: Window, gallery: Gallery) -> None:
    """Verdict, each case with its check and time, the samples of each, and a point below the roof."""
    page = window.open(f"/submissions/{gallery.on_gpu}")
    expect(page.get_by_text("Accepted", exact=True)).to_be_visible()
    rows = page.get_by_role("region", name="Table of cases").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Passed")
    expect(rows.nth(1)).to_contain_text(re.compile(r"\d+\.\d+ . \d+\.\d+ µs"))
    expect(page.get_by_role("img", name=re.compile("60 samples from .* median"))).to_have_count(3)
    expect(page.get_by_role("img", name=re.compile("Roofline of MI300X: at most 163 TFLOP"))).to_be_visible()


def test_a_submission_can_be_taken_along(window: Window, gallery: Gallery) -> None:
    """The CSV has a line for each timed case, the JSON every event and the code."""
    page = window.open(f"/submissions/{gallery.accepted}")
    cases = list(csv.DictReader(_saved(page, "Export CSV").splitlines()))
    assert (
        [len(case["samples_ms"].split()) for case in cases] == [int(case["samples"]) for case in cases] != []
    )
    whole = json.loads(_saved(page, "Export JSON"))
    assert whole["solution_code"] == EXAMPLE
    assert whole["events"][-1]["status"] == whole["submission"]["verdict"] == "ACCEPTED"


def test_a_submission_can_be_shared(window: Window, gallery: Gallery) -> None:
    """The link that is copied opens the same submission."""
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.open(f"/submissions/{gallery.accepted}?tab=story")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{gallery.service.url}/submissions/{gallery.accepted}"


def test_a_submission_tells_its_story(window: Window, gallery: Gallery) -> None:
    """Everything that happened, in order, each with its time."""
    page = window.open(f"/submissions/{gallery.accepted}?tab=story")
    lines = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(lines.last).to_contain_text("Accepted")
    titles = lines.locator("strong").all_inner_texts()
    known = ["Handed in", "X-ray", "Compiling", "Cases passed", "Checked", "Timing", "Timed", "Accepted"]
    assert [title for title in titles if title in known] == known


def test_a_running_submission_goes_on_by_itself(window: Window, gallery: Gallery) -> None:
    """Opened while it runs, the page reaches the verdict with no reload."""
    page = window.open(f"/submissions/{gallery.service.submit(endpoint='benchmark')}")
    expect(page.get_by_text("Benchmarked", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("samples from"))).not_to_have_count(0)
    expect(page).to_have_title(re.compile("Benchmarked: leaky-relu"))


def test_the_xray_links_source_and_assembly(window: Window, gallery: Gallery) -> None:
    """Pointing at a line marks its instructions, and the other way round; arrow keys do the same."""
    page = window.open(f"/submissions/{gallery.accepted}?tab=xray")
    expect(page.get_by_role("img", name=re.compile(r"holds \d+ of 32 waves"))).to_be_visible()
    page.get_by_role("button", name="Show the assembly").click()
    source = page.get_by_role("listbox", name=re.compile("^Source of leaky_relu"))
    assembly = page.get_by_role("listbox", name=re.compile("^Assembly of leaky_relu"))
    guard = source.get_by_role("option").filter(has_text="if (begin + 4 <= count)")
    guard.hover()
    number = guard.get_attribute("data-line")
    marked = assembly.get_by_role("option", selected=True)
    expect(marked.first).to_be_in_viewport()
    assert set(marked.evaluate_all("rows => rows.map((row) => row.dataset.line)")) == {number}
    load = assembly.get_by_role("option").filter(has_text="global_load_dwordx4")
    load.hover()
    expect(source.get_by_role("option", selected=True)).to_contain_text(
        "reinterpret_cast<const float4*>(input"
    )
    source.press("ArrowDown")
    expect(source.get_by_role("option", selected=True)).not_to_contain_text(
        "reinterpret_cast<const float4*>(input"
    )


def test_the_xray_of_the_editor_leads_to_its_lines(window: Window) -> None:
    """Code that was never handed in is looked into, and a loop's line is a way to it in the editor."""
    page = window.open("/problems/matrix-multiplication")
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(MATMUL)
    xray_of_editor(page)
    expect(page.get_by_text("Limited by vector registers")).to_be_visible()
    page.get_by_role("button", name="line 22").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("for (size_t depth0 = 0")


def test_the_list_filters_and_compares(window: Window, gallery: Gallery) -> None:
    """A filter is kept in the address; two that are picked are compared, with a sentence, bars and a diff."""
    page = window.open("/submissions")
    page.get_by_label("Verdict").select_option("WRONG_ANSWER")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("verdict=WRONG_ANSWER"))
    page.reload()
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_label("Verdict").select_option("ACCEPTED")
    for each in (gallery.accepted, gallery.other):
        page.get_by_label(f"Compare {each}").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(f"/compare/{gallery.accepted}/{gallery.other}"))
    expect(page.get_by_role("heading", name=re.compile("Over all cases"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("95% interval"))).not_to_have_count(0)
    diff = page.get_by_role("region", name="Difference of the code")
    expect(diff.locator(".diff-changed")).to_have_count(2)
    diff.get_by_role("button", name=re.compile("unchanged lines")).click()
    expect(diff).to_contain_text("#include <hip/hip_runtime.h>")


def test_going_back_finds_the_search_again(window: Window) -> None:
    """From a problem back to the list, it is as narrow as it was left, and its address shares it."""
    page = window.open("/problems")
    page.get_by_label("Search").fill("leaky")
    page.get_by_label("Difficulty").select_option("easy")
    page.get_by_role("link", name="Leaky ReLU").click()
    expect(page.get_by_role("heading", name="Leaky ReLU")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Search")).to_have_value("leaky")
    expect(page.locator(".problem-card")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/problems\?q=leaky&difficulty=easy$"))


def test_the_leaderboard_shows_ties_as_ties(window: Window) -> None:
    """Intervals that overlap share a place, and what ran on a CPU has a board of its own."""
    page = window.open("/leaderboard/leaky-relu")
    gpu = page.get_by_role("region", name="MI300X").get_by_role("row")
    places = [row.split()[:2] for row in gpu.all_inner_texts()[1:]]
    assert places == [["1=", "ada"], ["1=", "grace"], ["3", "edsger"], ["4", "barbara"]]
    expect(gpu.nth(1)).to_contain_text(re.compile(r"8\d\.\d%"))
    simulator = page.get_by_role("region", name="CPU simulator").get_by_role("row")
    expect(simulator).to_have_count(2)
    expect(simulator.nth(1)).to_contain_text("local")


def test_what_is_not_there_helps(browser: Browser, gallery: Gallery) -> None:
    """An unknown id, or a filter that nothing can match, ends with where to go on."""
    window = Window(browser, gallery.service.url)
    page = window.open("/submissions/sub_nothing")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    page.get_by_role("link", name="Your submissions").click()
    expect(page.get_by_role("heading", name="Submissions", exact=True)).to_be_visible()
    page.goto("/submissions?problem=nothing")
    expect(page.get_by_text("No submission can match")).to_be_visible()
    page.get_by_role("link", name="Show all of yours").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    window.close()


def _saved(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text()
