"""Tests of submissions, X-ray, comparison, problem list and leaderboard in a real browser."""

from __future__ import annotations

import csv
import functools
import json
import re
import threading
import urllib.request
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window, xray_editor
from tests.browser.populated_service import MATMUL
from tests.support.services import EXAMPLE
from warmfront.receipts.key_files import key_from_json
from warmfront.receipts.verification import verify_receipt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.browser.populated_service import PopulatedService


@pytest.fixture(name="window")
def _window(browser: Browser, populated: PopulatedService) -> Iterator[Window]:
    window = Window(browser, populated.service.url)
    yield window
    window.close()
    assert window.console_errors == []


def test_a_submission_shows_its_results(window: Window, populated: PopulatedService) -> None:
    """The verdict, the cases, the distribution of samples, and the roofline are shown."""
    page = window.open(f"/submissions/{populated.on_gpu}")
    expect(page.get_by_text("Accepted", exact=True)).to_be_visible()
    rows = page.get_by_role("region", name="Table of cases").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("Passed")
    expect(rows.nth(1)).to_contain_text(re.compile(r"\d+\.\d+ to \d+\.\d+ µs"))
    expect(rows.nth(1)).to_contain_text("3 of 31 windows were disturbed and left out")
    expect(page.get_by_role("img", name=re.compile("14 samples from .* median"))).to_have_count(3)
    expect(page.get_by_role("img", name=re.compile("Roofline of MI300X: peak 163 TFLOP"))).to_be_visible()
    roofline = page.get_by_role("region", name="Roofline")
    expect(roofline).to_contain_text(
        re.compile(r"You are at 82% of the floor: .*memory bandwidth, 5\.30 TB/s.*geometric mean of 3 cases")
    )
    for roof in ("Infinity Cache 17.2 TB/s", "LDS 81.7 TB/s", "Matrix fp16, bf16 1307 TFLOP/s"):
        expect(roofline.get_by_role("button", name=roof)).to_be_visible()


def test_a_submission_can_be_exported(window: Window, populated: PopulatedService) -> None:
    """The CSV has a line per timed case, the JSON all events and the source."""
    page = window.open(f"/submissions/{populated.accepted}")
    cases = list(csv.DictReader(_download(page, "Export CSV").splitlines()))
    assert (
        [len(case["samples_ms"].split()) for case in cases] == [int(case["samples"]) for case in cases] != []
    )
    export = json.loads(_download(page, "Export JSON"))
    assert export["solution_code"] == EXAMPLE
    assert export["events"][-1]["status"] == export["submission"]["verdict"] == "ACCEPTED"


def test_the_windows_of_a_time_are_shown(window: Window, populated: PopulatedService) -> None:
    """The raw measurements can be opened and exported; the program's own time is marked as not used."""
    page = window.open(f"/submissions/{populated.on_gpu}")
    windows = page.get_by_role("region", name="Windows", exact=True)
    windows.get_by_text("31 windows, 3 left out").first.click()
    expect(windows).to_contain_text("not used")
    expect(windows.get_by_role("row").filter(has_text="left out: disturbed")).to_have_count(3)
    lines = list(csv.DictReader(_download(page, "Export windows").splitlines()))
    assert len(lines) == 3 * 31
    assert sum(line["discarded"] == "true" for line in lines) == 9


def test_a_noisy_time_is_explained(window: Window) -> None:
    """It has a label, the reason, and the guarantees that the machine could not provide."""
    page = window.open("/submissions/sub_gpu_alan")
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict).to_contain_text("The machine was busy, so the interval is wide")
    expect(verdict).to_contain_text("No freezer: the program is stopped by signals.")
    expect(page.locator(".submission-facts")).to_contain_text("noisy")


def test_printed_output_is_shown_by_case(window: Window, populated: PopulatedService) -> None:
    """The output of the case that failed is visible; that of the others can be opened."""
    page = window.open(f"/submissions/{populated.wrong}")
    cases = page.locator(".case-output")
    expect(cases.filter(has=page.get_by_text("failed", exact=True)).locator("pre")).to_be_visible()
    expect(cases.filter(has=page.get_by_text("failed", exact=True))).to_contain_text("elements")
    expect(cases.first.locator("pre")).to_be_hidden()
    cases.first.locator("summary").click()
    expect(cases.first.locator("pre")).to_contain_text("elements")


def test_the_same_code_is_not_called_faster(window: Window) -> None:
    """However far apart two times of one source are, neither is faster; other sources are compared."""
    page = window.open("/compare/sub_gpu_ada/sub_gpu_barbara")
    times = page.get_by_role("region", name="Times")
    expect(times.get_by_role("heading", name="The code is the same")).to_be_visible()
    expect(times).not_to_contain_text("times as fast")
    page.goto("/compare/sub_gpu_ada/sub_gpu_edsger")
    expect(times.get_by_role("heading", name="Overall")).to_contain_text(
        re.compile(r"A is 1\.4\d* times as fast as B \(1\.3\d* to 1\.4\d*\)")
    )


def test_a_receipt_can_be_downloaded(window: Window, populated: PopulatedService) -> None:
    """The downloaded file is valid with the service's keys, and the page names the key."""
    page = window.open(f"/submissions/{populated.accepted}")
    with urllib.request.urlopen(f"{populated.service.url}/api/amd/keys") as response:  # noqa: S310 - loopback
        keys = [key_from_json(key) for key in json.load(response)["items"]]
    receipt = verify_receipt(_download(page, "Download receipt").encode(), keys)
    assert receipt.body["submission_id"] == populated.accepted
    expect(page.get_by_role("region", name="Receipt")).to_contain_text(receipt.key.id)


def test_a_submission_can_be_shared(window: Window, populated: PopulatedService, tmp_path: Path) -> None:
    """The copied link leads to a view for others, which works until the submission is private again."""
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.open(f"/submissions/{populated.accepted}?tab=events")
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_label("Visible to").select_option("Everyone with the link")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"{populated.service.url}/s/shr_")
    _check_frames(window, populated, copied.rpartition("/")[2], tmp_path)
    page.get_by_label("Visible to").select_option("Only me")
    expect(page.get_by_role("button", name="Link copied")).to_have_count(0)


def _check_frames(window: Window, populated: PopulatedService, share: str, folder: Path) -> None:
    """Another site can show the embedded view, and nothing else of the page, in a frame."""
    frames = "".join(
        f'<iframe src="{populated.service.url}{path}" width="900" height="600"></iframe>'
        for path in (f"/embed/{share}", f"/s/{share}", "/embed/shr_nothing")
    )
    folder.joinpath("index.html").write_text(frames)
    handler = functools.partial(_SilentHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        blog = window.context.new_page()
        blog.goto(f"http://127.0.0.1:{site.server_port}/index.html")
        _check_framed_views(blog)
        blog.close()
        site.shutdown()


class _SilentHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _check_framed_views(blog: Page) -> None:
    embedded, refused, missing = (blog.frame_locator("iframe").nth(number) for number in range(3))
    expect(embedded.get_by_role("heading", name="leaky-relu")).to_be_visible()
    embedded.get_by_role("tab", name="Source").click()
    expect(embedded.get_by_text("leaky_relu").first).to_be_visible()
    expect(embedded.get_by_role("navigation")).to_have_count(0)
    expect(missing.get_by_role("alert")).to_contain_text("There is no shared result")
    expect(refused.get_by_role("heading")).to_have_count(0)


def test_a_submission_shows_its_event_log(window: Window, populated: PopulatedService) -> None:
    """The events are listed in order."""
    page = window.open(f"/submissions/{populated.accepted}?tab=events")
    lines = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(lines.last).to_contain_text("Accepted")
    titles = lines.locator("strong").all_inner_texts()
    expected = ["Submitted", "X-ray", "Compiling", "Cases passed", "Checked", "Timing", "Timed", "Accepted"]
    assert [title for title in titles if title in expected] == expected


def test_a_running_submission_is_updated_live(window: Window, populated: PopulatedService) -> None:
    """Opened while it runs, the page shows the verdict without a reload."""
    page = window.open(f"/submissions/{populated.service.submit(endpoint='benchmark')}")
    expect(page.get_by_text("Benchmarked", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("samples from"))).not_to_have_count(0)
    expect(page).to_have_title(re.compile("Benchmarked: leaky-relu"))


def test_the_xray_links_source_and_assembly(window: Window, populated: PopulatedService) -> None:
    """Hovering a line highlights its instructions and vice versa; arrow keys move between lines."""
    page = window.open(f"/submissions/{populated.accepted}?tab=xray")
    expect(page.get_by_role("img", name=re.compile(r"runs \d+ of 32 waves"))).to_be_visible()
    page.get_by_role("button", name="Show assembly").click()
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
    expect(page.locator(".instruction-help")).to_contain_text("Loads 16 bytes per lane from memory")
    source.press("ArrowDown")
    expect(source.get_by_role("option", selected=True)).not_to_contain_text(
        "reinterpret_cast<const float4*>(input"
    )


def test_the_xray_of_the_editor_links_to_its_lines(window: Window) -> None:
    """Code that was not submitted has an X-ray too, and the line of a loop links to the editor."""
    page = window.open("/problems/matrix-multiplication")
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(MATMUL)
    xray_editor(page)
    expect(page.get_by_text("Limited by vector registers")).to_be_visible()
    page.get_by_role("button", name="line 22").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("for (size_t depth0 = 0")


def test_a_scratch_kernel_has_an_xray_without_a_problem(window: Window) -> None:
    """The starter is compiled at once, errors are marked while typing, and a reload restores the code."""
    page = window.open("/problems")
    page.get_by_role("link", name="Scratch kernel").click()
    status = page.get_by_test_id("status-line")
    expect(status).to_contain_text(re.compile(r"\d+ VGPR"))
    page.get_by_role("tab", name="Assembly").click()
    expect(page.get_by_role("listbox", name=re.compile("^Assembly of scale"))).to_be_visible()
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text("__global__ void broken() { int x = y; }")
    expect(page.locator(".cm-lintRange-error")).to_be_visible()
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("broken")


def test_a_comparison_has_the_older_submission_on_the_left(
    window: Window, populated: PopulatedService
) -> None:
    """From whichever of the two it is opened, A is the older one."""
    page = window.open(f"/submissions/{populated.other}")
    page.get_by_label("Compare with another submission").select_option(populated.accepted)
    expect(page).to_have_url(re.compile(f"/compare/{populated.accepted}/{populated.other}"))


def test_samples_are_shown_in_order_of_measurement(window: Window, populated: PopulatedService) -> None:
    """A chart that is drawn on request has a dot per sample."""
    page = window.open(f"/submissions/{populated.on_gpu}")
    page.get_by_text("In order of measurement").first.click()
    expect(page.get_by_role("img", name=re.compile("^14 samples, median"))).to_be_visible()


def test_the_list_can_be_filtered_and_compared(window: Window, populated: PopulatedService) -> None:
    """Filters are kept in the address; two selected submissions are compared by times and by source."""
    page = window.open("/submissions")
    page.get_by_label("Verdict").select_option("WRONG_ANSWER")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page).to_have_url(re.compile("verdict=WRONG_ANSWER"))
    page.reload()
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_label("Verdict").select_option("ACCEPTED")
    for submission_id in (populated.accepted, populated.other):
        page.get_by_label(f"Compare {submission_id}").check()
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile(f"/compare/{populated.accepted}/{populated.other}"))
    expect(page.get_by_role("heading", name=re.compile("^Overall"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("95% interval"))).not_to_have_count(0)
    diff = page.get_by_role("region", name="Source diff")
    expect(diff.locator(".diff-changed")).to_have_count(2)
    diff.get_by_role("button", name=re.compile("unchanged lines")).click()
    expect(diff).to_contain_text("#include <hip/hip_runtime.h>")


def test_going_back_restores_the_search(window: Window) -> None:
    """Going back from a problem restores the filters, which are also in the address."""
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
    """Entries with overlapping intervals share a rank, and simulated results have their own table."""
    page = window.open("/leaderboard/leaky-relu")
    gpu = page.get_by_role("region", name="MI300X").get_by_role("row")
    ranks = [row.split()[:2] for row in gpu.all_inner_texts()[1:]]
    assert ranks == [["=1", "ada"], ["=1", "grace"], ["=1", "alan"], ["4", "edsger"], ["5", "barbara"]]
    expect(gpu.nth(3)).to_contain_text("noisy")
    expect(gpu.nth(1)).to_contain_text(re.compile(r"\d+\.\d+ µs\s+\(\d+\.\d+ to \d+\.\d+\)"))
    expect(gpu.nth(1)).to_contain_text(re.compile(r"8\d\.\d%"))
    simulated = page.get_by_role("region", name="CPU runtime").get_by_role("row")
    expect(simulated).to_have_count(2)
    expect(simulated.nth(1)).to_contain_text("local")


def test_unknown_ids_and_filters_link_onwards(browser: Browser, populated: PopulatedService) -> None:
    """An unknown id or a filter that cannot match shows a link to continue."""
    window = Window(browser, populated.service.url)
    page = window.open("/submissions/sub_nothing")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    page.get_by_role("link", name="Your submissions").click()
    expect(page.get_by_role("heading", name="Submissions", exact=True)).to_be_visible()
    page.goto("/submissions?problem=nothing")
    expect(page.get_by_text("No submission can match")).to_be_visible()
    page.get_by_role("link", name="Show all submissions").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    window.close()


def _download(page: Page, button: str) -> str:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_text()


def test_a_scratch_kernel_is_launched_with_typed_sizes(window: Window) -> None:
    """Buffers, printed text and findings are shown; a field with an error says what is needed."""
    page = window.open("/scratch")
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(
        "#include <hip/hip_runtime.h>\n"
        "__global__ void triple(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        '  if (i == 0) printf("%u blocks\\n", gridDim.x);\n'
        "  if (i < n) y[i] = 3 * x[i];\n"
        "}\n"
    )
    form = page.get_by_role("form", name="Launch")
    expect(form.get_by_label("Kernel")).to_have_value("triple")
    form.get_by_label("Grid (blocks)").fill("0")
    form.get_by_role("button", name="Launch").click()
    expect(form.get_by_role("alert")).to_have_text("“0”; allowed: one to three sizes, such as 4 or 16x16.")
    form.get_by_label("Grid (blocks)").fill("2")
    form.get_by_label("Block (threads)").fill("8")
    x = form.get_by_role("group", name="x const float*")
    x.get_by_label("Elements").fill("40")
    x.get_by_label("Contents").select_option("index")
    form.get_by_role("group", name="y float*").get_by_label("Elements").fill("40")
    form.get_by_label("Value of n").fill("12")
    form.get_by_role("button", name="Launch").click()
    status = page.get_by_test_id("run-status")
    expect(status).to_have_attribute("data-status", "CHECKED")
    expect(status).to_contain_text("The launch completed")
    expect(page.get_by_label("Values of y", exact=True)).to_contain_text("0, 3, 6, 9")
    expect(page.get_by_role("region", name="Buffers")).to_contain_text("never written")
    expect(page.get_by_text("2 blocks")).to_be_visible()
    form.get_by_label("Value of n").fill("100000")
    form.get_by_label("Grid (blocks)").fill("9")
    page.locator(".cm-content").press("ControlOrMeta+Enter")
    expect(status).to_have_attribute("data-status", "RUNTIME_ERROR")
    expect(page.locator(".findings")).to_contain_text("line 5")
    page.get_by_role("link", name="Details").click()
    page.get_by_role("link", name="Open in editor").click()
    expect(form.get_by_label("Value of n")).to_have_value("100000")
    page.get_by_role("tab", name="History").click()
    expect(page.locator(".version").first).to_contain_text("Runtime error")
    page.get_by_role("heading", name="Scratch kernel").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert window.console_errors == []


def test_a_kernel_of_256_kib_has_live_diagnostics(window: Window) -> None:
    """The largest source that the service accepts is compiled while typing, and the editor stays usable."""
    page = window.open("/scratch")
    line = "// a comment that makes the source long, but does not change what it computes\n"
    head = "#include <hip/hip_runtime.h>\n__global__ void large(float* x) { x[threadIdx.q] = 1; }\n"
    page.locator(".cm-content").press("ControlOrMeta+a")
    page.keyboard.insert_text(head + line * ((256 * 1024 - len(head)) // len(line)))
    status = page.get_by_test_id("status-line")
    expect(status).to_contain_text("1 error")
    page.locator(".cm-content").press("ControlOrMeta+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    expect(page.locator(".cm-activeLine .cm-lintRange-error")).to_be_visible()
    for _ in range(len("q] = 1; }")):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    page.keyboard.type("x")
    expect(status).to_contain_text(re.compile(r"\d+ VGPR"))
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    assert window.console_errors == []


def test_a_phone_in_landscape_can_be_used(browser: Browser, populated: PopulatedService) -> None:
    """Nothing is wider than the screen, the editor can be reached, and a run is started."""
    window = Window(browser, populated.service.url, viewport={"width": 844, "height": 390}, has_touch=True)
    for path in ("/problems/leaky-relu", "/scratch", "/problems", f"/submissions/{populated.wrong}"):
        page = window.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 844, path
    page = window.open("/problems/leaky-relu")
    page.locator(".cm-content").scroll_into_view_if_needed()
    box = page.locator(".editor-frame").bounding_box()
    assert box is not None
    assert box["height"] >= 200
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_test_id("run-status")).to_have_attribute("data-status", "WRONG_ANSWER")
    expect(page.get_by_test_id("run-status")).to_be_in_viewport()
    assert window.console_errors == []
    window.close()


def test_the_xray_of_the_editor_is_shared(window: Window) -> None:
    """The link opens the X-ray with its source."""
    page = window.open("/scratch")
    page.get_by_role("tab", name="X-ray").click()
    page.get_by_role("button", name="Share this X-ray").click()
    link = page.get_by_label("Link to this X-ray").input_value()
    page.goto(link)
    expect(page.get_by_role("heading", name="X-ray", exact=True).first).to_be_visible()
    page.get_by_role("tab", name="Source").click()
    expect(page.get_by_text("__global__").first).to_be_visible()
    assert window.console_errors == []


def test_public_results_are_listed(window: Window, populated: PopulatedService) -> None:
    """A link in the footer leads to them; a result has its roofline, also for a stranger."""
    page = window.open(f"/submissions/{populated.other}")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("Visible to").select_option("Everyone (listed)")
    expect(page.get_by_label("Link", exact=True)).to_have_value(re.compile("/s/shr_"))
    page.get_by_role("contentinfo").get_by_role("link", name="Shared results").click()
    expect(page).to_have_url(re.compile("/shared$"))
    row = page.get_by_role("region", name="Shared results").get_by_role("row").filter(has_text="leaky-relu")
    row.get_by_role("link", name="leaky-relu").click()
    expect(page.get_by_role("img", name=re.compile("Roofline of MI300X"))).to_be_visible()
    page.goto(page.url.replace("/s/", "/embed/"))
    expect(page.get_by_role("img", name=re.compile("Roofline of MI300X"))).to_be_visible()
    assert window.console_errors == []


def test_a_slow_network_shows_progress_and_loses_nothing(
    browser: Browser, populated: PopulatedService
) -> None:
    """On 3G the statement is shown while the editor loads, and what is typed is checked and kept."""
    window = Window(browser, populated.service.url)
    session = window.context.new_cdp_session(window.page)
    session.send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 25_000},
    )
    window.page.goto("/problems/leaky-relu", wait_until="commit")
    expect(window.page.get_by_role("heading", name="Leaky ReLU")).to_be_visible()
    editor = window.page.locator(".cm-content")
    editor.click()
    window.page.keyboard.press("ControlOrMeta+a")
    window.page.keyboard.insert_text(EXAMPLE.replace("threadIdx.x", "threadIdx.q"))
    expect(window.page.get_by_test_id("status-line")).to_contain_text("1 error")
    window.page.reload(wait_until="commit")
    expect(editor).to_contain_text("threadIdx.q")
    assert window.console_errors == []
    window.close()


@pytest.mark.parametrize("answer", ["{}", "null", '{"events": null, "submission": {}}', "not JSON"])
def test_an_error_in_an_embedded_view_is_shown_in_it(
    browser: Browser, populated: PopulatedService, answer: str
) -> None:
    """For a response that the page cannot show, the frame has a message instead of being blank."""
    window = Window(browser, populated.service.url)
    window.page.route("**/api/amd/shared/*", lambda route: route.fulfill(status=200, body=answer))
    window.page.goto("/embed/shr_broken")
    expect(window.page.locator("#root")).to_contain_text(
        re.compile("Not available|Something went wrong|error", re.IGNORECASE)
    )
    window.close()
