"""A newcomer at a problem's page, in a real browser on a real service: right, wrong, broken, cancelled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.desk import ENDLESS, Desk
from tests.support.services import EXAMPLE, REHEARSAL, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.support.services import Service

#: Wrong from the 512th element on, so that the first cases pass.
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

#: A tab that is not looked at, in a browser that may notify and says what it would show.
_NOTIFICATIONS = """
    window.told = [];
    window.Notification = class {
        static permission = "granted";
        constructor(title, { body }) { window.told.push([title, body]); }
    };
    Object.defineProperty(document, "hidden", { get: () => true });
"""


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("desk"), **REHEARSAL) as service:
        yield service


@pytest.fixture(name="desk")
def _desk(browser: Browser, service: Service) -> Iterator[Desk]:
    desk = Desk(browser, service.url)
    yield desk
    desk.window.close()
    assert desk.window.complaints == []


def test_a_newcomer_solves_a_problem_and_the_next_run_is_warm(desk: Desk) -> None:
    """From the list to ACCEPTED, every state in its order; the quote and the next run say warm."""
    page = desk.page
    page.goto("/")
    page.get_by_label("Search").fill("leaky")
    page.get_by_role("link", name="Leaky ReLU").click()
    expect(page.get_by_test_id("offer")).to_contain_text(
        re.compile(r"(cold|warm), about \d+ s, \$0\.\d+ simulated")
    )
    desk.write(EXAMPLE)
    desk.press("Submit")
    desk.expect_verdict("ACCEPTED")
    order = ["queue", "VM boots", "compiling", "checking", "timing", "✓ Accepted"]
    seen = [next((at for at, name in enumerate(order) if name in title), None) for title in desk.titles()]
    stages = [at for at in seen if at is not None]
    assert stages == sorted(stages)
    assert {order.index("queue"), order.index("✓ Accepted")} <= set(stages)
    expect(desk.stage("Check")).to_contain_text("10 of 10 cases right")
    expect(page.get_by_role("img", name=re.compile(r"\d+ samples, median .* 95% interval"))).to_be_visible()
    expect(page.get_by_test_id("offer")).to_contain_text("over 99% chance of a warm VM")
    page.keyboard.press("Control+Enter")
    desk.expect_verdict("CHECKED")
    expect(desk.stage("Machine")).to_contain_text("Warm")


def test_a_wrong_answer_is_a_picture_of_where(desk: Desk) -> None:
    """A map of the error over the output, the first differences beside it, and the case by name."""
    desk.write(HALF_WRONG)
    desk.press("Run")
    desk.expect_verdict("WRONG_ANSWER")
    picture = desk.page.get_by_role("img", name=re.compile("Error over output"))
    expect(picture).to_be_visible()
    assert 0 < picture.locator(".wrong").count() < picture.locator("rect").count()
    expect(desk.page.get_by_role("row").filter(has_text="[16][16]")).to_be_visible()
    expect(desk.stage("Check")).to_contain_text("3 of 10 cases right")


def test_a_compile_error_is_a_mark_on_its_line(desk: Desk) -> None:
    """The line has its mark and its message, and nothing was spent; mended, the mark is gone."""
    desk.write(EXAMPLE.replace('extern "C"', 'int wrong = ;\nextern "C"'))
    desk.press("Submit")
    desk.expect_verdict("COMPILE_ERROR")
    expect(
        desk.page.locator(".cm-line").filter(has_text="int wrong").locator(".cm-lintRange-error")
    ).to_be_visible()
    expect(desk.page.get_by_text("no VM was used and nothing was spent")).to_be_visible()
    desk.write(EXAMPLE)
    desk.press("Run")
    desk.expect_verdict("CHECKED")
    expect(desk.page.locator(".cm-lintRange-error")).to_have_count(0)


def test_a_fault_names_block_and_thread_and_leads_to_its_line(desk: Desk) -> None:
    """Kernel, block and thread are told, and the finding's line is one click away."""
    desk.write(UNGUARDED)
    desk.press("Run")
    desk.expect_verdict("RUNTIME_ERROR")
    facts = desk.page.locator(".facts")
    expect(facts).to_contain_text(re.compile(r"Kernelleaky.*Block\(0, 0, 0\).*Thread\(\d+, 0, 0\)"))
    desk.page.get_by_role("button", name="line 4").first.click()
    expect(desk.page.locator(".cm-activeLine")).to_contain_text("out[i] =")


def test_what_runs_can_be_cancelled(desk: Desk) -> None:
    """A kernel that never ends is stopped by its author, though the line is cut just then; others may go."""
    desk.write(ENDLESS)
    desk.press("Run")
    expect(desk.stage("Check")).to_have_attribute("data-state", "now")
    desk.page.route("**/cancel", lambda route: route.abort(), times=1)
    desk.press("Cancel")
    expect(desk.page.get_by_role("button", name="Cancelling…")).to_be_disabled()
    desk.expect_verdict("CANCELLED")
    expect(desk.page.get_by_role("button", name="Submit", exact=True)).to_be_enabled()
    desk.window.complaints.clear()  # the browser notes the line that was cut


def test_a_reload_in_the_middle_loses_nothing(desk: Desk) -> None:
    """The code is there again, and so is the run, which goes on to its verdict."""
    desk.write(f"{ENDLESS}// </script><script>alert(1)</script>\n")
    desk.press("Run")
    expect(desk.stage("Check")).to_have_attribute("data-state", "now")
    desk.page.reload()
    expect(desk.editor).to_contain_text("</script><script>alert(1)</script>")
    expect(desk.stage("Check")).to_have_attribute("data-state", "now")
    desk.press("Cancel")
    desk.expect_verdict("CANCELLED")


def test_a_verdict_is_told_to_whoever_looks_elsewhere(desk: Desk) -> None:
    """Where notifications are allowed, one comes at the end, with the verdict and the problem."""
    desk.page.add_init_script(_NOTIFICATIONS)
    desk.page.reload()
    desk.write(EXAMPLE)
    desk.press("Run")
    desk.expect_verdict("CHECKED")
    assert desk.page.evaluate("window.told") == [["All 10 cases right", "Leaky ReLU"]]


def test_two_tabs_on_one_problem_ask_whose_code_to_keep(desk: Desk) -> None:
    """What the other tab wrote is offered, and neither is written over unasked."""
    other = desk.window.context.new_page()
    other.goto("/problems/leaky-relu")
    expect(other.locator(".cm-content")).to_be_visible()
    desk.write("// mine")
    asked = other.get_by_role("button", name="Take that version")
    expect(asked).to_be_visible()
    expect(other.locator(".cm-content")).not_to_contain_text("// mine")
    asked.click()
    expect(other.locator(".cm-content")).to_have_text("// mine")
    expect(asked).to_have_count(0)


def test_a_source_that_is_too_large_is_told_before_it_is_sent(desk: Desk) -> None:
    """300 KiB are kept in the editor, and the buttons wait."""
    desk.write(f"//{'x' * 300 * 1024}")
    expect(desk.page.get_by_role("alert")).to_contain_text("300 KiB; at most 256 KiB")
    expect(desk.page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()


def test_a_browser_that_may_keep_nothing_still_solves(desk: Desk) -> None:
    """With storage forbidden the page says that the code is not kept, and runs it all the same."""
    forbidden = "{ get() { throw new DOMException('no', 'SecurityError'); } }"
    for name in ("localStorage", "sessionStorage"):
        desk.page.add_init_script(f"Object.defineProperty(window, '{name}', {forbidden})")
    desk.page.reload()
    desk.write(EXAMPLE)
    expect(desk.page.get_by_text("lost with a reload")).to_be_visible()
    desk.press("Run")
    desk.expect_verdict("CHECKED")


def test_vim_keys_come_on_request(desk: Desk) -> None:
    """With them on, `dd` deletes a line; off again, it types."""
    desk.write("first\nsecond")
    desk.page.get_by_label("Vim keys").check()
    expect(desk.page.locator(".cm-vim-panel")).to_be_visible()
    desk.editor.click()
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.type("ggdd")
    expect(desk.editor).to_have_text("second")


def test_an_unknown_problem_helps_on(desk: Desk) -> None:
    """The page says what is missing and where to go."""
    desk.page.goto("/problems/no-such")
    expect(desk.page.get_by_role("heading", name="Not found")).to_be_visible()
    desk.page.get_by_role("link", name="All problems").click()
    expect(desk.page.get_by_role("heading", name="Problems")).to_be_visible()
    desk.window.complaints.clear()  # the browser notes the 404 that was asked for
