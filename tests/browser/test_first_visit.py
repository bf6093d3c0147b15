"""A newcomer with the page alone, from the first visit to a link that works in another browser profile."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.browser.problem_page import ProblemPage
from tests.support.services import REHEARSAL, serving

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

SOLUTION = """#include <hip/hip_runtime.h>
__global__ void add(const float* a, const float* b, float* out, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
extern "C" void solution(const float* a, const float* b, float* out, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
"""
#: One block, as in the starter code: too few for most inputs.
FIRST_ATTEMPT = SOLUTION.replace("(n + 255) / 256", "1")
VARIANT = SOLUTION.replace("(n + 255) / 256, 256", "(n + 127) / 128, 128")


def test_a_newcomer_gets_from_the_first_verdict_to_a_shared_link(browser: Browser, tmp_path: Path) -> None:
    """First verdict, wrong answer understood and fixed, history restored, versions compared, link shared.

    Every step is offered by the page, and nothing is written to the console.
    """
    with serving(tmp_path, **REHEARSAL) as service:
        newcomer = ProblemPage(browser, service.url, slug=None)
        newcomer.page.goto("/")
        newcomer.page.get_by_role("link", name="Solve your first kernel").click()
        _take_the_tour(newcomer)
        _see_errors_while_typing(newcomer)
        _get_the_first_verdict(newcomer)
        _understand_a_wrong_answer(newcomer)
        _fix_it_and_submit(newcomer)
        _restore_the_history(newcomer)
        _compare_two_versions(newcomer)
        link = _share_a_link(newcomer)
        assert newcomer.window.console_errors == []
        newcomer.window.close()
        _open_it_in_another_profile(browser, service.url, link)


def _take_the_tour(problem: ProblemPage) -> None:
    """It names the three panes and is not shown again after it is closed."""
    tour = problem.page.get_by_role("complementary", name="Tour")
    expect(tour).to_contain_text("The task")
    tour.get_by_role("button", name="Next").click()
    expect(tour).to_contain_text("The editor")
    tour.get_by_role("button", name="Do not show again").click()
    expect(tour).to_have_count(0)
    problem.page.goto("/problems/vector-addition")
    expect(problem.editor).to_be_visible()
    expect(tour).to_have_count(0)


def _see_errors_while_typing(problem: ProblemPage) -> None:
    """An error is underlined on its line without a run; a fix removes it and shows the registers."""
    status = problem.page.get_by_test_id("status-line")
    problem.write(SOLUTION.replace("threadIdx.x", "threadIdx.q"))
    expect(
        problem.page.locator(".cm-line").filter(has_text="threadIdx.q").locator(".cm-lintRange-error")
    ).to_be_visible()
    expect(status).to_contain_text("1 error")
    problem.write(FIRST_ATTEMPT)
    expect(status).to_contain_text(re.compile(r"\d+ VGPR · \d of 8 waves · 0 spills"))
    expect(problem.page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(problem.page.get_by_text("No run yet")).to_be_visible()


def _get_the_first_verdict(problem: ProblemPage) -> None:
    problem.press("Run")
    problem.expect_verdict("WRONG_ANSWER")


def _understand_a_wrong_answer(problem: ProblemPage) -> None:
    """The page shows which elements are wrong, from which inputs, and what was expected instead."""
    page = problem.page
    expect(page.get_by_role("img", name=re.compile("Errors in d_output"))).to_be_visible()
    table = page.get_by_role("region", name="First differences")
    columns = table.get_by_role("columnheader").all_text_contents()
    # A narrow pane leaves out the column with the difference, which follows from these.
    assert columns[:5] == ["Index", "d_input1", "d_input2", "Expected", "Actual"]
    rows = [
        dict(zip(columns, row.get_by_role("cell").all_text_contents(), strict=True))
        for row in _body_rows(table)
    ]
    for row in rows:
        inputs = _number(row["d_input1"]) + _number(row["d_input2"])
        assert _number(row["Expected"]) == pytest.approx(inputs, rel=1e-4, abs=2e-3)  # six digits are shown
        assert math.isnan(_number(row["Actual"]))  # the poison, which was not overwritten
    assert rows[0]["Index"] == "[256]"  # the first element after the only block
    expect(page.get_by_text("Some elements were never written")).to_contain_text("the number of blocks")


def _body_rows(table: Locator) -> list[Locator]:
    return table.locator("tbody tr").all()


def _number(text: str) -> float:
    """Return the number that the page shows, with a typographic minus sign."""
    return float(text.replace("\N{MINUS SIGN}", "-"))


def _fix_it_and_submit(problem: ProblemPage) -> None:
    """The old verdict is marked as stale until the new run starts."""
    stale = problem.page.locator(".run-panel[data-stale=true]")
    expect(stale).to_have_count(0)
    problem.write(SOLUTION)
    expect(stale).to_be_visible()
    problem.press("Submit")
    problem.expect_verdict("ACCEPTED")
    expect(stale).to_have_count(0)
    problem.write(VARIANT)
    problem.press("Submit")
    problem.expect_verdict("ACCEPTED")


def _restore_the_history(problem: ProblemPage) -> None:
    """Every version is listed with its diff; the first is restored, and undo restores the last one."""
    page = problem.page
    page.get_by_role("tab", name="History").click()
    versions = page.locator(".version")
    expect(versions).to_have_count(3)
    expect(versions.last).to_contain_text("Wrong answer")
    versions.last.get_by_role("button", name="Diff").click()
    expect(versions.last.locator(".diff-changed .diff-left")).to_contain_text(["add<<<1, 256>>>"])
    versions.last.get_by_role("button", name="Restore").click()
    expect(problem.editor).to_contain_text("add<<<1, 256>>>")
    problem.editor.press("ControlOrMeta+z")
    expect(problem.editor).to_contain_text("(n + 127) / 128")


def _compare_two_versions(problem: ProblemPage) -> None:
    """The older is on the left; either can be opened in the editor again."""
    page = problem.page
    accepted = page.locator(".version").filter(has_text="Accepted")
    expect(accepted).to_have_count(2)
    for version in accepted.all():
        version.get_by_role("checkbox").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Overall"))).to_be_visible()
    changed = page.get_by_role("region", name="Source diff").locator(".diff-changed").first
    expect(changed.locator(".diff-left")).to_contain_text("255")
    expect(changed.locator(".diff-right")).to_contain_text("127")
    page.locator(".compare-a").get_by_role("link").first.click()
    page.get_by_role("link", name="Open in editor").click()
    expect(problem.editor).to_contain_text("(n + 255) / 256")
    expect(page).to_have_url(re.compile("/problems/vector-addition$"))


def _share_a_link(problem: ProblemPage) -> str:
    """Share the version that is in the editor from its history, and return the link."""
    page = problem.page
    page.get_by_role("tab", name="History").click()
    page.locator(".version").filter(has_text="Accepted").last.get_by_role("link").click()
    page.get_by_role("button", name="Share").click()
    sharing = page.get_by_role("region", name="Sharing")
    expect(sharing).to_contain_text("Only you and operators can open it.")
    sharing.get_by_label("Visible to").select_option("Everyone with the link")
    return sharing.get_by_label("Link", exact=True).input_value()


def _open_it_in_another_profile(browser: Browser, url: str, link: str) -> None:
    """Another profile has no drafts or history of the newcomer, and opens the result with its source."""
    other = Window(browser, url)
    page = other.open(link)
    expect(page.get_by_role("heading", name="vector-addition")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Accepted").first).to_be_visible()
    page.get_by_role("tab", name="Source").click()
    expect(page.get_by_text("(n + 255) / 256").first).to_be_visible()
    assert other.console_errors == []
    other.close()
