"""The view of operations in a real browser: what was, what is, and what changes while one looks."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.browsing import Window
from tests.browser.history import DAYS, USERS, put_history
from tests.support.services import EXAMPLE, REHEARSAL, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page, Route


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A rehearsal with a past, and one VM at the most."""
    data_dir = tmp_path_factory.mktemp("operations")
    put_history(data_dir)
    settings = {"AMD_VM_MAX_CONCURRENT": "1", "AMD_GRANT_CREDITS_TOTAL": "150"}
    with serving(data_dir, **REHEARSAL, **settings) as service:
        yield service


@pytest.fixture(name="window")
def _window(browser: Browser, service: Service) -> Iterator[Window]:
    window = Window(browser, service.url)
    yield window
    window.close()
    assert window.complaints == []


def _opened(window: Window) -> Page:
    """The view, when it hears of changes."""
    page = window.open("/operations")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    return page


def _card(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=re.compile(f"^{title}"))


def test_the_past_is_drawn(window: Window) -> None:
    """Credits with pace and alert line, a bar for every day, users by cost, and times by warm and cold."""
    page = _opened(window)
    credits_ = _card(page, "Credits")
    left = credits_.get_by_role(
        "img", name=re.compile(r"\$\d+\.\d\d of \$150\.00 are left.*alert comes at \$30\.00")
    )
    expect(left).to_be_visible()
    expect(credits_).to_contain_text(re.compile(r"the credits last (\d+ (days|months)|a day)"))
    bars = _card(page, "Cost by day").get_by_role("img", name=re.compile(rf"in ({DAYS}|{DAYS + 1}) days"))
    expect(bars).to_be_visible()
    for user in USERS:
        expect(
            _card(page, "Cost by user").get_by_role("row", name=re.compile(rf"{user} \$\d"))
        ).to_be_visible()
    rows = _card(page, "Cold starts").get_by_role("row")
    expect(rows).to_have_count(6)
    expect(rows.nth(2)).to_contain_text(re.compile(r"Half within\d+ s7 min \d\d s"))


def test_a_vm_is_followed_as_it_lives(window: Window, service: Service) -> None:
    """With nobody reloading: it is busy with a submission, others wait, then it is idle and counts down."""
    page = _opened(window)
    taken = [service.submit(EXAMPLE.replace("256", str(64 * each))) for each in (1, 2, 3)]
    vms, queue = _card(page, "VMs now"), _card(page, "Queue")
    one_of_them = re.compile("^/submissions/(" + "|".join(taken) + ")$")
    expect(vms.get_by_role("link", name="leaky-relu, submit")).to_have_attribute("href", one_of_them)
    expect(vms.get_by_text("Busy")).to_be_visible()
    expect(queue.get_by_role("link").first).to_have_attribute("href", one_of_them)
    for each in reversed(taken):
        _cancel(service, each)
    expect(queue).to_contain_text("Nobody waits.")
    expect(vms).to_contain_text(re.compile(r"Released in \d+ (s|min)"))
    expect(vms.get_by_text("Kept until")).to_be_visible()
    expect(page).to_have_title(re.compile("^1 VM · Operations"))


def _cancel(service: Service, submission_id: str) -> None:
    """Stop it, if it is not over already."""
    answer = httpx.post(f"{service.url}/api/amd/submissions/{submission_id}/cancel", timeout=60)
    assert answer.status_code in {200, 409}


def test_this_month_is_held_against_other_policies(window: Window, service: Service) -> None:
    """What was spent, what other policies had come to, and the best: a sentence, and bars of one scale."""
    service.judged(endpoint="checker")
    page = _opened(window)
    card = _card(page, "What if")
    expect(card).to_contain_text(
        re.compile(
            r"This month \$[\d.,]+ simulated; with fixed 10 minutes it would have been \$[\d.,]+; "
            r"with adaptive \$[\d.,]+; the best possible was \$[\d.,]+\."
        )
    )
    told = service.get("what-if")
    for item in told["items"]:
        row = card.get_by_role("row", name=re.compile(item["policy"]))
        expect(row).to_contain_text(f"${item['usd']:,.2f}")
        expect(row).to_contain_text(f"${item['cost_usd']:,.2f}")
    widths = card.locator(".user-bar > div").evaluate_all("bars => bars.map((bar) => bar.offsetWidth)")
    assert len(widths) == 1 + len(told["items"])
    assert widths[-1] == min(widths) < max(widths)


def test_a_simulation_is_waited_for_and_may_have_nothing_to_tell(browser: Browser, service: Service) -> None:
    """A bar while it is computed, one that failed can be asked for again, and an empty month says so."""
    window = Window(browser, service.url)
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    window.page.route("**/api/amd/what-if", hold)
    card = _card(_opened(window), "What if")
    expect(card.get_by_role("progressbar", name="Replaying this month")).to_be_visible()
    refusal = {"status": 503, "code": "SIMULATION_FAILED", "detail": "The simulation failed.", "hint": ""}
    asked.pop().fulfill(status=503, json=refusal)
    expect(card).to_contain_text("The simulation failed.")
    card.get_by_role("button", name="Try again").click()
    empty = {"since": "", "tasks": 0, "spent_usd": 0, "simulated": True, "items": []}
    expect(card.get_by_role("progressbar", name="Replaying this month")).to_be_visible()
    asked.pop().fulfill(json=empty)
    expect(card).to_contain_text("No task needed a VM this month.")
    window.close()


def test_the_lanes_reach_as_far_back_as_asked(window: Window, service: Service) -> None:
    """An hour has fewer VMs than a day, by keyboard too; the table has the sums."""
    service.judged(endpoint="checker")
    page = _opened(window)
    lanes = page.get_by_role("region", name=re.compile("^The last"))
    expect(lanes.get_by_role("img", name=re.compile("What 5 VMs did"))).to_be_visible()
    lanes.get_by_role("button", name="1 h").focus()
    page.keyboard.press("Enter")
    expect(lanes.get_by_role("heading", name="The last hour")).to_be_visible()
    expect(lanes.get_by_role("img", name=re.compile("What one VM did"))).to_be_visible()
    lanes.get_by_text("As a table").click()
    expect(lanes.get_by_role("row")).to_have_count(2)


def test_a_wrong_clock_counts_down_rightly(browser: Browser, service: Service) -> None:
    """A browser that is an hour ahead shows the same minutes as the service."""
    service.judged(endpoint="checker")
    window = Window(browser, service.url)
    window.page.clock.install(time=time.time() + 3600)
    page = window.open("/operations")
    expect(_card(page, "VMs now")).to_contain_text(re.compile(r"Released in (9|10) min"))
    window.close()


def test_a_restart_is_lived_through(browser: Browser, service: Service) -> None:
    """While the service is away a view says so and keeps what it has; one that is opened then comes after."""
    window = Window(browser, service.url)
    page = _opened(window)
    other = window.context.new_page()
    other.goto("/problems")
    expect(other.get_by_role("link", name="Leaky ReLU")).to_be_visible()
    service.stop()
    other.get_by_role("link", name="Settings").click()
    expect(other.get_by_text("The service does not answer.")).to_be_visible()
    expect(page.get_by_text("The service does not answer.")).to_be_visible()
    expect(page.get_by_text("Connecting…")).to_be_visible()
    expect(_card(page, "Credits").get_by_role("img")).to_be_visible()
    service.start()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_text("The service does not answer.")).to_have_count(0)
    expect(other.get_by_role("heading", name="Settings")).to_be_visible()
    window.close()


def test_a_user_sees_their_own_costs(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With a key that is no operator's, other users are not on the page."""
    data_dir = tmp_path_factory.mktemp("keyed")
    put_history(data_dir, days=1)
    with serving(data_dir, **REHEARSAL) as service:
        words = service.run("keys", "create", "--user", "ada").stdout.split()
        key = next(word for word in words if word.startswith("wf_"))
        window = Window(browser, service.url)
        window.context.add_init_script(f"localStorage.setItem('warmfront.key', '{key}')")
        page = _opened(window)
        users = _card(page, "Cost by user")
        expect(users.get_by_role("row")).to_have_count(1)
        expect(users).to_contain_text("Operators see everyone")
        expect(users).to_contain_text("ada")
        expect(_card(page, "What if")).to_have_count(0)
        window.close()
        assert window.complaints == []
