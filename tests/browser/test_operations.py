"""Tests of the operations view in a real browser, with past usage and live changes."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.browser.usage_history import DAYS, USERS, write_failed_vm, write_usage_history
from tests.support.services import EXAMPLE, REHEARSAL, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page, Route


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run a rehearsal with usage history and at most one VM."""
    data_dir = tmp_path_factory.mktemp("operations")
    write_usage_history(data_dir)
    write_failed_vm(data_dir)
    settings = {"AMD_VM_MAX_CONCURRENT": "1", "AMD_GRANT_CREDITS_TOTAL": "150"}
    with serving(data_dir, **REHEARSAL, **settings) as service:
        yield service


@pytest.fixture(name="window")
def _window(browser: Browser, service: Service) -> Iterator[Window]:
    window = Window(browser, service.url)
    yield window
    window.close()
    assert window.console_errors == []


def _open_live(window: Window) -> Page:
    """Open the view and wait until it receives changes."""
    page = window.open("/operations")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    return page


def _card(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=re.compile(f"^{title}"))


def test_past_usage_is_shown(window: Window) -> None:
    """Credits with forecast and alert, costs per day and per user, and latency by warm and cold start."""
    page = _open_live(window)
    credits_ = _card(page, "Credits")
    chart = credits_.get_by_role(
        "img", name=re.compile(r"\$\d+\.\d\d of \$150\.00 remaining; alert at \$30\.00")
    )
    expect(chart).to_be_visible()
    expect(credits_).to_contain_text(re.compile(r"the credits last (\d+ (days|months)|1 day)"))
    bars = _card(page, "Cost by day").get_by_role("img", name=re.compile(rf"in ({DAYS}|{DAYS + 1}) days"))
    expect(bars).to_be_visible()
    for user in USERS:
        expect(
            _card(page, "Cost by user").get_by_role("row", name=re.compile(rf"{user} \$\d"))
        ).to_be_visible()
    rows = _card(page, "Cold starts").get_by_role("row")
    expect(rows).to_have_count(6)
    expect(rows.nth(2)).to_contain_text(re.compile(r"p50\d+ s7 min \d\d s"))


def test_a_failed_vm_shows_its_checks(window: Window) -> None:
    """The reason, the GPU, and the checks with the failed ones first."""
    vms = _card(_open_live(window), "VMs")
    vms.get_by_text("1 VM failed").click()
    expect(vms).to_contain_text("The VM cannot judge: ECC: 3 uncorrectable and 9 corrected memory errors.")
    vms.get_by_text("GPU not healthy, 2 checks of 4 failed").click()
    expect(vms).to_contain_text("AMD Instinct MI300X (gfx942), 304 CUs, 206 GB, SPX/NPS1, driver 6.16.13")
    rows = vms.get_by_role("region", name="Checks of").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_contain_text("its memory is defective")
    expect(rows.nth(1)).to_contain_text("Advice")


def test_a_vm_is_updated_live(window: Window, service: Service) -> None:
    """Without a reload, a VM is busy while others are queued, then idle with a countdown to its release."""
    page = _open_live(window)
    submission_ids = [service.submit(EXAMPLE.replace("256", str(64 * factor))) for factor in (1, 2, 3)]
    vms, queue = _card(page, "VMs"), _card(page, "Queue")
    one_of_them = re.compile("^/submissions/(" + "|".join(submission_ids) + ")$")
    expect(vms.get_by_role("link", name="leaky-relu, submit")).to_have_attribute("href", one_of_them)
    expect(vms.get_by_text("Busy")).to_be_visible()
    expect(queue.get_by_role("link").first).to_have_attribute("href", one_of_them)
    for submission_id in reversed(submission_ids):
        _cancel(service, submission_id)
    expect(queue).to_contain_text("Queue is empty.")
    expect(vms).to_contain_text(re.compile(r"Released in \d+ (s|min)"))
    expect(vms.get_by_text("Kept until")).to_be_visible()
    expect(page).to_have_title(re.compile("^1 VM · Operations"))


def _cancel(service: Service, submission_id: str) -> None:
    """Cancel the submission, unless it has already ended."""
    response = httpx.post(f"{service.url}/api/amd/submissions/{submission_id}/cancel", timeout=60)
    assert response.status_code in {200, 409}


#: Only a simulation that hangs takes this long: others take seconds of CPU time, minutes on a busy machine.
SIMULATION_TIMEOUT_MS = 900_000


def test_this_month_is_compared_with_other_policies(window: Window, service: Service) -> None:
    """The actual costs, those of other policies and the best possible are shown as a sentence and as bars."""
    service.judged(endpoint="checker")
    page = _open_live(window)
    card = _card(page, "What if")
    expect(card).to_contain_text(
        re.compile(
            r"This month cost \$[\d.,]+ simulated; with fixed 10 minutes it would have cost \$[\d.,]+; "
            r"with adaptive \$[\d.,]+; the best possible is \$[\d.,]+\."
        ),
        timeout=SIMULATION_TIMEOUT_MS,
    )
    what_if = service.get("what-if")
    for item in what_if["items"]:
        row = card.get_by_role("row", name=re.compile(item["policy"]))
        expect(row).to_contain_text(f"${item['usd']:,.2f}")
        expect(row).to_contain_text(f"${item['cost_usd']:,.2f}")
    widths = card.locator(".user-bar > div").evaluate_all("bars => bars.map((bar) => bar.offsetWidth)")
    assert len(widths) == 1 + len(what_if["items"])
    assert widths[-1] == min(widths) < max(widths)


def test_a_simulation_shows_progress_errors_and_an_empty_month(browser: Browser, service: Service) -> None:
    """A progress bar is shown while it runs, a failure can be retried, and an empty month has a message."""
    window = Window(browser, service.url)
    requests: list[Route] = []

    def hold(route: Route) -> None:
        requests.append(route)

    window.page.route("**/api/amd/what-if", hold)
    card = _card(_open_live(window), "What if")
    expect(card.get_by_role("progressbar", name="Replaying this month")).to_be_visible()
    error = {"status": 503, "code": "SIMULATION_FAILED", "detail": "The simulation failed.", "hint": ""}
    requests.pop().fulfill(status=503, json=error)
    expect(card).to_contain_text("The simulation failed.")
    card.get_by_role("button", name="Try again").click()
    empty = {"since": "", "tasks": 0, "spent_usd": 0, "simulated": True, "items": []}
    expect(card.get_by_role("progressbar", name="Replaying this month")).to_be_visible()
    requests.pop().fulfill(json=empty)
    expect(card).to_contain_text("No submission needed a VM this month")
    window.close()


def test_the_vm_history_covers_the_selected_range(window: Window, service: Service) -> None:
    """An hour has fewer VMs than a day, selectable by keyboard; the table has the totals."""
    service.judged(endpoint="checker")
    page = _open_live(window)
    history = page.get_by_role("region", name=re.compile("^Last"))
    expect(history.get_by_role("img", name=re.compile("Activity of 6 VMs"))).to_be_visible()
    history.get_by_role("button", name="1 h").focus()
    page.keyboard.press("Enter")
    expect(history.get_by_role("heading", name="Last hour")).to_be_visible()
    expect(history.get_by_role("img", name=re.compile("Activity of 1 VM "))).to_be_visible()
    history.get_by_text("Totals by VM").click()
    expect(history.get_by_role("row")).to_have_count(2)


def test_the_countdown_is_correct_if_the_browser_clock_is_wrong(browser: Browser, service: Service) -> None:
    """A browser whose clock is an hour ahead shows the remaining minutes by the service's clock."""
    service.judged(endpoint="checker")
    window = Window(browser, service.url)
    window.page.clock.install(time=time.time() + 3600)
    page = window.open("/operations")
    expect(_card(page, "VMs")).to_contain_text(re.compile(r"Released in (9|10) min"))
    window.close()


def test_the_page_survives_a_restart_of_the_service(browser: Browser, service: Service) -> None:
    """While the service is unreachable a view keeps its data; a view opened meanwhile loads afterwards."""
    window = Window(browser, service.url)
    page = _open_live(window)
    other = window.context.new_page()
    other.goto("/problems")
    expect(other.get_by_role("link", name="Leaky ReLU")).to_be_visible()
    service.stop()
    other.get_by_role("link", name="Settings").click()
    expect(other.get_by_text("The service is unreachable.")).to_be_visible()
    expect(page.get_by_text("The service is unreachable.")).to_be_visible()
    expect(page.get_by_text("Connecting…")).to_be_visible()
    expect(_card(page, "Credits").get_by_role("img")).to_be_visible()
    service.start()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_text("The service is unreachable.")).to_have_count(0)
    expect(other.get_by_role("heading", name="Settings")).to_be_visible()
    window.close()


def test_a_user_sees_only_their_own_costs(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With the key of a user, the costs of other users are not shown."""
    data_dir = tmp_path_factory.mktemp("keyed")
    write_usage_history(data_dir, days=1)
    with serving(data_dir, **REHEARSAL) as service:
        words = service.run("keys", "create", "--user", "ada").stdout.split()
        key = next(word for word in words if word.startswith("wf_"))
        window = Window(browser, service.url)
        window.context.add_init_script(f"localStorage.setItem('warmfront.key', '{key}')")
        page = _open_live(window)
        users = _card(page, "Cost by user")
        expect(users.get_by_role("row")).to_have_count(1)
        expect(users).to_contain_text("Only operators see the costs of all users")
        expect(users).to_contain_text("ada")
        expect(_card(page, "What if")).to_have_count(0)
        window.close()
        assert window.console_errors == []
