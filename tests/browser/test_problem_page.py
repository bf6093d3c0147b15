"""Tests of a problem's page in a real browser: accepted, wrong, broken and cancelled runs, and drafts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.problem_page import ENDLESS, ProblemPage
from tests.support.services import EXAMPLE, REHEARSAL, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator

    from tests.support.services import Service

#: Wrong from element 512 on, so that the first cases pass.
HALF_WRONG = """#include <hip/hip_runtime.h>
__global__ void leaky(const float* in, float alpha, float* out, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) out[i] = (in[i] > 0 ? in[i] : alpha * in[i]) + (i < 512 ? 0.0f : 1.0f);
}
extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    leaky<<<(n * m + 255) / 256, 256>>>(input, alpha, output, n * m);
}
"""
UNGUARDED = HALF_WRONG.replace("if (i < n) ", "").replace("(i < 512 ? 0.0f : 1.0f)", "0.0f")

#: Simulates a background tab in a browser that allows notifications, and records them.
_NOTIFICATIONS = """
    window.notifications = [];
    window.Notification = class {
        static permission = "granted";
        constructor(title, { body }) { window.notifications.push([title, body]); }
    };
    Object.defineProperty(document, "hidden", { get: () => true });
"""


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("problem"), **REHEARSAL) as service:
        yield service


@pytest.fixture(name="problem")
def _problem(browser: Browser, service: Service) -> Iterator[ProblemPage]:
    problem = ProblemPage(browser, service.url)
    yield problem
    problem.window.close()
    assert problem.window.console_errors == []


def test_a_problem_is_solved_and_the_next_run_is_warm(problem: ProblemPage) -> None:
    """From the list to ACCEPTED with all states in order; then the quote and the next run are warm."""
    page = problem.page
    page.goto("/")
    page.get_by_label("Search").fill("leaky")
    page.get_by_role("link", name="Leaky ReLU").click()
    expect(page.get_by_test_id("quote")).to_contain_text(
        re.compile(r"(cold|warm) start, about \d+ s, \$0\.\d+ simulated")
    )
    problem.write(EXAMPLE)
    problem.press("Submit")
    problem.expect_verdict("ACCEPTED")
    order = ["Queued", "Provisioning", "Compiling", "Checking", "Timing", "✓ Accepted"]
    stages = [stage for title in problem.titles() for stage, name in enumerate(order) if name in title]
    assert stages == sorted(stages)
    assert {order.index("Queued"), order.index("✓ Accepted")} <= set(stages)
    expect(problem.stage("Check")).to_contain_text("12 of 12 cases passed")
    expect(page.get_by_role("img", name=re.compile(r"\d+ samples, median .* 95% interval"))).to_be_visible()
    expect(page.get_by_test_id("quote")).to_contain_text(
        "over 99% chance that a VM is still warm if you submit"
    )
    page.keyboard.press("Control+Enter")
    problem.expect_verdict("CHECKED")
    expect(problem.stage("VM")).to_contain_text("Warm start")


def test_a_wrong_answer_shows_an_error_map(problem: ProblemPage) -> None:
    """The verdict has a map of the errors, the first differences, and the failed case."""
    problem.write(HALF_WRONG)
    problem.press("Run")
    problem.expect_verdict("WRONG_ANSWER")
    error_map = problem.page.get_by_role("img", name=re.compile("Errors in output"))
    expect(error_map).to_be_visible()
    assert 0 < error_map.locator(".wrong").count() < error_map.locator("rect").count()
    expect(problem.page.get_by_role("row").filter(has_text="[16][16]")).to_be_visible()
    expect(problem.stage("Check")).to_contain_text("3 of 12 cases passed")


def test_a_compile_error_is_marked_on_its_line(problem: ProblemPage) -> None:
    """The line is marked and nothing was spent; after a fix the mark is gone."""
    problem.write(EXAMPLE.replace('extern "C"', 'int wrong = ;\nextern "C"'))
    problem.press("Submit")
    problem.expect_verdict("COMPILE_ERROR")
    expect(
        problem.page.locator(".cm-line").filter(has_text="int wrong").locator(".cm-lintRange-error")
    ).to_be_visible()
    expect(problem.page.get_by_text("no VM was used and nothing was charged")).to_be_visible()
    problem.write(EXAMPLE)
    problem.press("Run")
    problem.expect_verdict("CHECKED")
    expect(problem.page.locator(".cm-lintRange-error")).to_have_count(0)


def test_a_fault_shows_block_thread_and_line(problem: ProblemPage) -> None:
    """Kernel, block and thread are shown, and a click on the finding's line shows it in the editor."""
    problem.write(UNGUARDED)
    problem.press("Run")
    problem.expect_verdict("RUNTIME_ERROR")
    facts = problem.page.locator(".facts")
    expect(facts).to_contain_text(re.compile(r"Kernelleaky.*Block\(0, 0, 0\).*Thread\(\d+, 0, 0\)"))
    problem.page.get_by_role("button", name="line 4").first.click()
    expect(problem.page.locator(".cm-activeLine")).to_contain_text("out[i] =")


def test_a_run_can_be_cancelled(problem: ProblemPage) -> None:
    """A kernel that never terminates is cancelled although the first request fails; another run can start."""
    problem.write(ENDLESS)
    problem.press("Run")
    expect(problem.stage("Check")).to_have_attribute("data-state", "now")
    problem.page.route("**/cancel", lambda route: route.abort(), times=1)
    problem.press("Cancel")
    expect(problem.page.get_by_role("button", name="Cancelling…")).to_be_disabled()
    problem.expect_verdict("CANCELLED")
    expect(problem.page.get_by_role("button", name="Submit", exact=True)).to_be_enabled()
    problem.window.console_errors.clear()  # the browser reports the aborted request


def test_a_reload_keeps_the_code_and_the_run(problem: ProblemPage) -> None:
    """After a reload the code is restored, and the run continues to its verdict."""
    problem.write(f"{ENDLESS}// </script><script>alert(1)</script>\n")
    problem.press("Run")
    expect(problem.stage("Check")).to_have_attribute("data-state", "now")
    problem.page.reload()
    expect(problem.editor).to_contain_text("</script><script>alert(1)</script>")
    expect(problem.stage("Check")).to_have_attribute("data-state", "now")
    problem.press("Cancel")
    problem.expect_verdict("CANCELLED")


def test_a_background_tab_notifies_of_the_verdict(problem: ProblemPage) -> None:
    """If allowed, a notification shows the verdict and the problem."""
    problem.page.add_init_script(_NOTIFICATIONS)
    problem.page.reload()
    problem.write(EXAMPLE)
    problem.press("Run")
    problem.expect_verdict("CHECKED")
    assert problem.page.evaluate("window.notifications") == [["All 12 cases passed", "Leaky ReLU"]]


def test_conflicting_edits_in_two_tabs_ask_which_to_keep(problem: ProblemPage) -> None:
    """The code of the other tab is offered, and neither version is overwritten silently."""
    other = problem.window.context.new_page()
    other.goto("/problems/leaky-relu")
    expect(other.locator(".cm-content")).to_be_visible()
    problem.write("// mine")
    use_other = other.get_by_role("button", name="Use the other version")
    expect(use_other).to_be_visible()
    expect(other.locator(".cm-content")).not_to_contain_text("// mine")
    use_other.click()
    expect(other.locator(".cm-content")).to_have_text("// mine")
    expect(use_other).to_have_count(0)


def test_a_source_that_is_too_large_is_rejected_before_it_is_sent(problem: ProblemPage) -> None:
    """A source of 300 KiB stays in the editor, and the buttons are disabled."""
    problem.write(f"//{'x' * 300 * 1024}")
    expect(problem.page.get_by_role("alert")).to_contain_text("300 KiB; the limit is 256 KiB")
    expect(problem.page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()


def test_the_page_works_without_browser_storage(problem: ProblemPage) -> None:
    """With storage blocked the page warns that the code is not saved, and still runs it."""
    blocked = "{ get() { throw new DOMException('no', 'SecurityError'); } }"
    for name in ("localStorage", "sessionStorage"):
        problem.page.add_init_script(f"Object.defineProperty(window, '{name}', {blocked})")
    problem.page.reload()
    problem.write(EXAMPLE)
    expect(problem.page.get_by_text("reloading the page loses the code")).to_be_visible()
    problem.press("Run")
    problem.expect_verdict("CHECKED")


def test_vim_keys_can_be_enabled(problem: ProblemPage) -> None:
    """With Vim keys, `dd` deletes a line."""
    problem.write("first\nsecond")
    problem.page.get_by_label("Vim keys").check()
    expect(problem.page.locator(".cm-vim-panel")).to_be_visible()
    problem.editor.click()
    problem.page.keyboard.press("Escape")
    problem.page.keyboard.type("ggdd")
    expect(problem.editor).to_have_text("second")


def test_an_unknown_problem_shows_where_to_continue(problem: ProblemPage) -> None:
    """The page says that the problem does not exist, and links to the list."""
    problem.page.goto("/problems/no-such")
    expect(problem.page.get_by_role("heading", name="Not found")).to_be_visible()
    problem.page.get_by_role("link", name="All problems").click()
    expect(problem.page.get_by_role("heading", name="Problems")).to_be_visible()
    problem.window.console_errors.clear()  # the browser reports the expected 404


def test_the_tab_key_passes_the_editor_without_indenting_the_code(problem: ProblemPage) -> None:
    """A hint says what Tab does: move on, until something is typed; then indent, except after Escape."""
    page = problem.page
    hint = page.locator(".tab-hint")
    code = problem.editor.inner_text()
    page.get_by_role("button", name="Submit", exact=True).focus()
    for _ in range(3):
        page.keyboard.press("Tab")
        if problem.editor.evaluate("editor => editor === document.activeElement"):
            break
    expect(problem.editor).to_be_focused()
    expect(hint).to_contain_text("Tab leaves the editor, until you type")
    page.keyboard.press("Tab")
    expect(problem.editor).not_to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(problem.editor).to_be_focused()
    assert problem.editor.inner_text() == code
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.type("int x;")
    expect(hint).to_contain_text("Esc then Tab leaves the editor")
    page.keyboard.press("Tab")
    expect(problem.editor).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(problem.editor).not_to_be_focused()


def test_all_cases_are_run_after_a_wrong_answer(problem: ProblemPage) -> None:
    """A run ends with the first wrong answer; all cases show which others fail, each with its differences."""
    page = problem.page
    problem.write(EXAMPLE.replace("alpha * x", "(x < -0.5f ? 7.0f : alpha * x)"))
    problem.press("Run")
    problem.expect_verdict("WRONG_ANSWER")
    offer = page.locator(".run-panel .note").filter(has_text="the first wrong answer")
    expect(page.get_by_role("listitem").filter(has_text="pending").first).to_be_attached()
    offer.get_by_role("button", name="Run all cases").click()
    expect(offer).to_have_count(0)
    problem.expect_verdict("WRONG_ANSWER")
    expect(page.get_by_role("listitem").filter(has_text="pending")).to_have_count(0)
    failed = page.get_by_role("region", name="Failed cases")
    expect(failed).to_contain_text(re.compile(r"\d+ of 12 cases failed"))
    failed.locator("summary").first.click()
    expect(failed.get_by_role("region", name="First differences").first).to_be_visible()
    page.get_by_role("tab", name="Cases").click()
    page.get_by_label("Run always checks all cases").check()
    problem.press("Run")
    problem.expect_verdict("WRONG_ANSWER")
    expect(failed).to_be_visible()
    assert problem.window.console_errors == []


def test_an_own_case_is_checked_beside_the_others(problem: ProblemPage) -> None:
    """Its sizes and style are typed, errors name the field, and its result is marked as own."""
    page = problem.page
    page.get_by_role("tab", name="Cases").click()
    form = page.get_by_role("form", name="New case")
    _fill_case(form, alpha="0.5", n="0", m="30")
    form.get_by_role("button", name="Add case").click()
    expect(form.get_by_role("alert").first).to_contain_text("“0”; allowed: a whole number from 1 to 1,100")
    _fill_case(form, alpha="0.5", n="40", m="30")
    form.get_by_label("Style of the inputs").select_option("far")
    form.get_by_role("button", name="Add case").click()
    expect(page.get_by_role("list", name="Your own cases")).to_contain_text(
        "alpha = 0.5, n = 40, m = 30, far"
    )
    problem.write(HALF_WRONG)
    problem.press("Run")
    problem.expect_verdict("WRONG_ANSWER")
    expect(problem.stage("Check")).to_contain_text("0 of 13 cases passed")
    expect(problem.stage("Check").locator(".failed-case")).to_contain_text(
        "own alpha = 0.5, n = 40, m = 30, far"
    )
    expect(page.locator(".verdict")).to_contain_text("own: alpha = 0.5, n = 40, m = 30, far")
    problem.write(EXAMPLE)
    problem.press("Run")
    problem.expect_verdict("CHECKED")
    expect(problem.stage("Check")).to_contain_text("13 of 13 cases passed")
    expect(problem.stage("Check")).to_contain_text("✓ own alpha = 0.5, n = 40, m = 30, far")
    problem.press("Submit")
    problem.expect_verdict("ACCEPTED")
    expect(problem.stage("Check")).to_contain_text("12 of 12 cases passed")  # without the own case


def test_sizes_that_the_service_rejects_are_explained(problem: ProblemPage) -> None:
    """The form checks each size; the service checks the limit on all of them together."""
    page = problem.page
    page.get_by_role("tab", name="Cases").click()
    form = page.get_by_role("form", name="New case")
    _fill_case(form, alpha="0.5", n="5000", m="30")
    form.get_by_role("button", name="Add case").click()
    problem.write(EXAMPLE)
    problem.press("Run")
    expect(page.get_by_role("alert").filter(has_text="own_cases")).to_contain_text(
        "own_cases[0].values.n is 5000; allowed: a whole number from 1 to 1100."
    )
    problem.window.console_errors.clear()  # the browser reports the rejected request


def _fill_case(form: Locator, **values: str) -> None:
    for name, value in values.items():
        label = form.page.locator(f"code:text-is('{name}')")
        form.locator(".case-field").filter(has=label).locator("input").fill(value)
