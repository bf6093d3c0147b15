"""People sign in at a real OpenID Connect issuer, invite each other, and see and share submissions."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.browser.problem_page import VERDICT_MS
from tests.browser.test_accessibility import violations
from tests.support.issuer import serving_accounts
from tests.support.services import EXAMPLE, REHEARSAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page, Route

    from tests.support.services import Service

pytestmark = pytest.mark.issuer

#: A browser reports rejected requests on its console.
_REJECTED = re.compile("the server responded with a status of (401|402|403|404|409)")


@pytest.fixture(scope="module", name="service")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("accounts")
    settings = {"WARMFRONT_ADMINS": "ada@example.com", "AMD_VM_IDLE_TIMEOUT": "3600", **REHEARSAL}
    settings["AMD_MI300X_HOURLY_RATE"] = "99"  # a submission costs more than a cent
    with serving_accounts(folder, **settings) as (service, _):
        yield service


def test_two_people_one_invited_by_the_other_share_a_submission(browser: Browser, service: Service) -> None:
    """Each sees only their own; the link works for others until it is made private."""
    ada, grace = Window(browser, service.url), Window(browser, service.url)
    _sign_in(ada.page, "ada")
    expect(_menu(ada.page)).to_contain_text("ada")
    link = _invite(ada.page)
    _accept(grace.page, link, "grace")
    expect(_menu(grace.page)).to_contain_text("grace")
    mine = {window: _submit(window.page) for window in (ada, grace)}
    for window, other in ((ada, grace), (grace, ada)):
        window.open("/submissions")
        expect(window.page.get_by_role("row")).to_have_count(2)  # the head, and one submission
        if window is grace:  # ada is an admin, who sees all
            window.page.goto(mine[other])
            expect(window.page.get_by_role("heading", name="Not found")).to_be_visible()
    shared = _share(ada.page, mine[ada], "Everyone with the link")
    stranger = Window(browser, service.url)
    for window in (grace, stranger):
        window.open(shared)
        expect(window.page.get_by_text("shared by ada")).to_be_visible()
        expect(window.page.get_by_text("Accepted").first).to_be_visible()
        window.page.get_by_role("tab", name="Source").click()
        expect(window.page.get_by_text("leaky_relu").first).to_be_visible()
        assert violations(window.page) == []
    _share(ada.page, mine[ada], "Only me")
    for window in (grace, stranger):
        window.page.goto(shared)
        expect(window.page.get_by_role("heading", name="This is private")).to_be_visible()
    _check_account(ada.page)
    _assign(ada.page)
    grace.open("/team")
    assignment = grace.page.get_by_role("region", name="Week 1", exact=True)
    expect(assignment.get_by_role("row").nth(1)).to_contain_text(re.compile("grace.*yes"))
    expect(assignment.get_by_role("row")).to_have_count(2)  # only her own
    assert violations(grace.page) == []
    assignment.get_by_role("link", name="Team leaderboard").click()
    expect(grace.page.get_by_role("main")).to_contain_text("Only members of the team kernels are ranked")
    for window in (ada, grace, stranger):
        assert [error for error in window.console_errors if not _REJECTED.search(error)] == []
        window.close()


def test_an_operator_who_signed_in_drains_a_vm_and_the_log_says_who_and_when(
    browser: Browser, service: Service
) -> None:
    """The entry has the operator's name, the VM, and the time of the click."""
    ada, olga = Window(browser, service.url), Window(browser, service.url)
    _sign_in(ada.page, "ada")
    _submit(ada.page)  # on a VM, which is idle afterwards
    _accept(olga.page, _invite(ada.page, "operator"), "olga", "operator")
    page = olga.open("/operators")
    row = page.get_by_test_id("vm-row")
    expect(row).to_have_count(1)
    vm_id = row.locator("code").get_attribute("title")
    row.get_by_role("button", name=re.compile("^Drain VM")).click()
    expect(page.get_by_test_id("effect")).to_contain_text(re.compile(r"Saves up to \$\d+\.\d+"))
    earliest = datetime.now().replace(microsecond=0)  # noqa: DTZ005 - the page shows the local time
    page.get_by_role("button", name="Drain VM", exact=True).click()
    expect(page.get_by_text("No VMs are running, and nothing is being spent.")).to_be_visible()
    for window in (olga, ada):  # both read the same log
        page = window.open("/operators")
        cells = page.get_by_test_id("audit-entry").first.get_by_role("cell").all_inner_texts()
        _, time, actor, action, subject, change, outcome = cells
        assert (actor, action, subject, outcome) == ("olga", "vm.drain", vm_id, "Done")
        assert change.startswith("draining: no → yes")
        assert earliest <= datetime.fromisoformat(time) <= datetime.now()  # noqa: DTZ005 - as above
        page.get_by_role("button", name="Check the chain").click()
        expect(page.get_by_text("chain intact.")).to_be_visible()
        assert violations(page) == []
        window.close()


def test_an_admin_changes_a_user_and_the_budget_of_a_team(browser: Browser, service: Service) -> None:
    """The budget is shown to the members, and refuses a submission that does not fit into it."""
    ada, edsger = Window(browser, service.url), Window(browser, service.url)
    _sign_in(ada.page, "ada")
    _accept(edsger.page, _invite(ada.page), "edsger")
    page = ada.open("/people")
    page.get_by_role("button", name="Change edsger").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Team (empty for none)").fill("frugal")
    dialog.get_by_label(re.compile("^Dollars per day")).fill("")
    assert violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    row = page.get_by_role("table", name="Users").get_by_role("row", name="edsger")
    expect(row).to_contain_text("frugal")
    page.get_by_role("button", name="Change the budget of frugal").click()
    page.get_by_label(re.compile("^Dollars per day for all members")).fill("0.01")
    expect(page.get_by_test_id("effect")).to_have_text("The team can spend up to $0.01 more today.")
    page.get_by_role("button", name="Save").click()
    team = page.get_by_role("table", name="Teams").get_by_role("row", name="frugal")
    expect(team).to_contain_text("$0.01")
    page = edsger.open("/team")
    expect(page.get_by_role("region", name="Budget")).to_contain_text("$0.00 of $0.01 spent today")
    expect(page.get_by_role("region", name="Budget")).to_contain_text("$0.01 left")
    assert violations(page) == []
    _write(page, EXAMPLE)  # the page says in advance what the service would refuse
    note = page.get_by_text("The budget does not cover a run.").locator("..")
    expect(note).to_contain_text("Daily cap reached: Team frugal has spent $0.0000 of $0.01 per day")
    expect(page.get_by_text("An admin can raise the budget of the team frugal.")).to_be_visible()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_disabled()
    ada.page.get_by_role("button", name="Change the budget of frugal").click()
    ada.page.get_by_label(re.compile("^Dollars per day for all members")).fill("50")
    ada.page.get_by_role("button", name="Save").click()
    expect(team).to_contain_text("$50.00")
    _submit(page)
    budget = edsger.open("/team").get_by_role("region", name="Budget")
    expect(budget).to_contain_text(re.compile(r"\$\d+\.\d+ of \$50\.00 spent today"))
    expect(budget).not_to_contain_text("$50.00 left")
    ada.open("/operators")
    changes = ada.page.get_by_test_id("audit-entry").all_inner_texts()
    assert any("team.budget" in change and "daily budget usd: 0.01" in change for change in changes)
    assert any("user.change" in change and "team: kernels → frugal" in change for change in changes)
    for window in (ada, edsger):
        assert [error for error in window.console_errors if not _REJECTED.search(error)] == []
        window.close()


def test_a_new_invitation_shows_when_it_expires(browser: Browser, service: Service) -> None:
    """The time is the service's, which the list shows too, and not a fixed number of days."""
    ada = Window(browser, service.url)
    _sign_in(ada.page, "ada")
    ada.page.route("**/api/amd/invitations", _let_expire_in_an_hour)
    earliest = datetime.now().replace(microsecond=0)  # noqa: DTZ005 - the page shows the local time
    _invite(ada.page)
    label = ada.page.locator(".secret-field label").inner_text()
    expires = re.search(r"It works once, until (\S+ \S+), and is not shown again", label)
    assert expires is not None, label
    hour = timedelta(hours=1)
    assert earliest + hour <= datetime.fromisoformat(expires[1]) <= datetime.now() + hour  # noqa: DTZ005 - as above
    newest = ada.page.get_by_role("table", name="Invitations").get_by_role("row").nth(1)
    expect(newest).to_contain_text(expires[1])
    ada.close()


def _let_expire_in_an_hour(route: Route) -> None:
    body = route.request.post_data_json
    route.continue_(post_data=None if body is None else json.dumps({**body, "valid_for_s": 3600}))


def test_a_replayed_invitation_says_so(browser: Browser, service: Service) -> None:
    """The page of the link names the reason, before a sign-in."""
    ada, alan, eve = (Window(browser, service.url) for _ in range(3))
    _sign_in(ada.page, "ada")
    link = _invite(ada.page)
    _accept(alan.page, link, "alan")
    eve.page.goto(link)
    expect(eve.page.get_by_role("heading", name="The invitation has already been used")).to_be_visible()
    assert violations(eve.page) == []
    eve.open("/sign-in")
    _visit_issuer(eve.page, "eve")
    expect(eve.page.get_by_role("heading", name="An invitation is required")).to_be_visible()
    for window in (ada, alan, eve):
        window.close()


def test_a_session_that_ends_while_typing_loses_nothing(browser: Browser, service: Service) -> None:
    """The page offers to sign in again, and the code is still there afterwards."""
    window = Window(browser, service.url)
    page = window.page
    _sign_in(page, "ada")
    _write(page, "// written before the session ended\n")
    other = window.context.new_page()
    other.goto("/account")
    other.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("// and after it\n")
    page.get_by_role("button", name="Run", exact=True).click()
    banner = page.get_by_role("alert").filter(has_text="Sign in as ada to continue")
    expect(banner).to_contain_text("Your session has ended. Your code is saved in this browser.")
    expect(page.locator(".cm-content")).to_contain_text("and after it")
    assert violations(page) == []
    banner.get_by_role("button", name="Sign in with Test issuer").click()  # the issuer still knows ada
    expect(page).to_have_url(re.compile("/problems/leaky-relu"))
    expect(page.locator(".cm-content")).to_contain_text("written before the session ended")
    expect(page.locator(".cm-content")).to_contain_text("and after it")
    window.close()


def test_two_tabs_with_two_users(browser: Browser, service: Service) -> None:
    """A tab does not act for the user who signed in from another tab, and each user has separate drafts."""
    window = Window(browser, service.url)
    first = window.page
    _sign_in(first, "ada")
    link = _invite(first)
    _write(first, "// a draft of ada\n")
    second = window.context.new_page()
    _sign_out(second)
    window.context.clear_cookies(name=re.compile("^_"))  # of the issuer, which would sign in ada again
    _accept(second, link, "barbara")
    expect(first.get_by_role("alert")).to_contain_text("barbara signed in from another tab")
    first.get_by_role("button", name="Run", exact=True).click()
    expect(first.get_by_text("This page was opened by 'ada', but barbara is signed in now.")).to_be_visible()
    expect(first.locator(".cm-content")).to_contain_text("a draft of ada")
    second.goto("/submissions")
    expect(second.get_by_text("You have no submissions yet.")).to_be_visible()
    first.get_by_role("button", name="Continue as the new user").click()
    expect(_menu(first)).to_contain_text("barbara")
    expect(first.locator(".cm-content")).not_to_contain_text("a draft of ada")
    _sign_out(first)
    window.context.clear_cookies(name=re.compile("^_"))
    _sign_in(first, "ada")
    first.goto("/problems/leaky-relu")
    expect(first.locator(".cm-content")).to_contain_text("a draft of ada")
    window.close()


def test_an_issuer_that_is_down_is_named(browser: Browser, tmp_path: Path) -> None:
    """The button reports the reason and stays usable."""
    with serving_accounts(tmp_path) as (service, issuer):
        issuer.stop()
        window = Window(browser, service.url)
        window.open("/sign-in")
        button = window.page.get_by_role("button", name="Sign in with Test issuer")
        button.click()
        expect(window.page.get_by_role("alert")).to_contain_text("Sign-in with Test issuer is unavailable")
        expect(button).to_be_enabled()
        window.close()


def _menu(page: Page) -> Locator:
    return page.locator(".account-menu > summary")


def _sign_in(page: Page, name: str) -> None:
    page.goto("/sign-in")
    _visit_issuer(page, name)
    expect(_menu(page)).to_contain_text(name)


def _visit_issuer(page: Page, name: str) -> None:
    page.get_by_role("main").get_by_role("button", name="Sign in with Test issuer").click()
    _sign_in_at_issuer(page, name)


def _sign_in_at_issuer(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Continue").click()


def _sign_out(page: Page) -> None:
    page.goto("/account")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _invite(page: Page, role: str = "author") -> str:
    page.goto("/people")
    form = page.get_by_role("form", name="New invitation")
    form.get_by_label("Role").select_option(role)
    form.get_by_label("Team (optional)").fill("kernels")
    form.get_by_label("Dollars per day (optional)").fill("2.50")
    form.get_by_role("button", name="Create invitation").click()
    link = page.get_by_label(re.compile("Send this link")).input_value()
    assert violations(page) == []
    return link


def _accept(page: Page, link: str, name: str, role: str = "author") -> None:
    page.goto(link)
    expect(page.get_by_role("heading", name="You are invited to Warmfront")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(
        f"{role} in the team kernels, with a budget of $2.50 per day"
    )
    assert violations(page) == []
    _visit_issuer(page, name)
    expect(_menu(page)).to_contain_text(name)


def _write(page: Page, code: str) -> None:
    page.goto("/problems/leaky-relu")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)
    expect(page.locator(".cm-content")).to_contain_text(code.strip().splitlines()[0])


def _submit(page: Page) -> str:
    """Submit the example and return the path of the submission."""
    _write(page, EXAMPLE)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_test_id("run-status")).to_have_attribute("data-status", "ACCEPTED", timeout=VERDICT_MS)
    page.goto("/submissions")
    link = page.get_by_role("main").locator("a[href^='/submissions/sub_']").first
    return str(link.get_attribute("href"))


def _share(page: Page, path: str, visibility: str) -> str:
    """Change who may open a submission, and return its link."""
    page.goto(path)
    page.get_by_role("button", name="Share", exact=True).click()
    menu = page.get_by_role("region", name="Sharing")
    menu.get_by_label("Visible to").select_option(visibility)
    if visibility == "Only me":
        expect(menu).to_contain_text("Only you and operators can open it.")
        return ""
    link = menu.get_by_label("Link", exact=True)
    expect(link).to_be_visible()
    assert violations(page) == []
    return link.input_value()


def _assign(page: Page) -> None:
    """Set an assignment for the team of the invited person, from the list of people."""
    page.goto("/people")
    page.get_by_role("link", name="kernels").first.click()
    page.get_by_label("Problem").select_option("leaky-relu")
    page.get_by_label("Title (optional)").fill("Week 1")
    page.get_by_label("Deadline").fill("2099-01-31T12:00")
    page.get_by_role("button", name="Set assignment").click()
    assignment = page.get_by_role("region", name="Week 1", exact=True)
    expect(assignment).to_contain_text("2099-01-31 12:00")
    expect(page.get_by_role("button", name="Export results")).to_be_visible()
    assert violations(page) == []
    assignment.get_by_role("button", name="Change deadline").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Deadline")).to_have_value("2099-01-31T12:00")
    dialog.get_by_label("Deadline").fill("2098-12-31T18:30")
    assert violations(page) == []
    dialog.get_by_role("button", name="Change deadline").click()
    expect(assignment).to_contain_text("2098-12-31 18:30")
    assignment.get_by_role("row").filter(has_text="grace").get_by_role("link").click()
    expect(page).to_have_url(re.compile("/submissions/sub_"))


def _check_account(page: Page) -> None:
    """The profile has the solved problem with its rank."""
    page.goto("/account")
    row = page.get_by_role("region", name="Solved problems").get_by_role("row").nth(1)
    expect(row).to_contain_text(re.compile(r"leaky-relu#\d of \d"))
    expect(page.get_by_role("region", name="Shared results")).to_contain_text("Submission")
    assert violations(page) == []
