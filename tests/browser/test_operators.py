"""The operators' view in a browser: act on VMs, pause the intake, change limits, and read who did it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.browser_window import Window
from tests.support.services import REHEARSAL, ROOT, Service, serving
from tests.support.webhook_receiver import receiving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

_IDLE_FOR_AN_HOUR = {"AMD_VM_IDLE_TIMEOUT": "3600"}


@pytest.fixture(name="keyed", scope="module")
def _keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """Yield a service with an idle VM, and the key of its operator."""
    with serving(tmp_path_factory.mktemp("operators"), **REHEARSAL, **_IDLE_FOR_AN_HOUR) as service:
        assert service.judged(endpoint="checker")[-1]["status"] == "CHECKED"
        words = service.run("keys", "create", "--user", "olga", "--role", "operator").stdout.split()
        yield service, next(word for word in words if word.startswith("wf_"))


def _open(browser: Browser, service: Service, key: str) -> tuple[Window, Page]:
    window = Window(browser, service.url)
    window.context.add_init_script(f"localStorage.setItem('warmfront.key', '{key}')")
    page = window.open("/operators")
    expect(page.get_by_role("heading", name="Audit log")).to_be_visible()
    return window, page


def _entries(page: Page) -> list[str]:
    return page.get_by_test_id("audit-entry").all_inner_texts()


def test_an_operator_pins_and_drains_a_vm_and_the_log_says_who_and_when(
    browser: Browser, keyed: tuple[Service, str]
) -> None:
    """Each dialog says what the action costs or saves; the VM ends; the log has actor, time and subject."""
    service, key = keyed
    window, page = _open(browser, service, key)
    row = page.get_by_test_id("vm-row")
    expect(row).to_have_count(1)
    row.get_by_role("button", name=re.compile("^Pin VM")).click()
    expect(page.get_by_test_id("effect")).to_contain_text(re.compile(r"costs up to \$\d+\.\d+ more"))
    page.get_by_role("dialog").get_by_role("combobox").select_option("24")
    page.get_by_role("button", name="Pin VM", exact=True).click()
    expect(row.get_by_text("Pinned", exact=True)).to_be_visible()
    other, late = _open(browser, service, key)
    late.get_by_test_id("vm-row").get_by_role("button", name=re.compile("^Release VM")).click()
    expect(late.get_by_test_id("effect")).to_be_visible()
    row.get_by_role("button", name=re.compile("^Drain VM")).click()
    expect(page.get_by_test_id("effect")).to_contain_text(re.compile(r"Saves up to \$\d+\.\d+"))
    page.get_by_role("button", name="Drain VM", exact=True).click()
    expect(page.get_by_text("No VMs are running, and nothing is being spent.")).to_be_visible()
    first = page.get_by_test_id("audit-entry").first
    expect(first).to_contain_text("vm.drain")
    expect(first).to_contain_text("olga")
    expect(first).to_contain_text(re.compile(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d"))
    expect(first).to_contain_text(re.compile(r"vm_[0-9a-f]{24}"))
    expect(first).to_contain_text("draining: no → yes")
    late.get_by_role("button", name="Release VM", exact=True).click()  # of a VM that is gone
    expect(late.get_by_role("dialog").get_by_role("alert")).to_contain_text(
        re.compile(r"VM vm_\w+ ended at 20.*: drained by an operator\.|VM vm_\w+ is shutting down")
    )
    other.close()
    assert [error for error in other.console_errors if "409" not in error] == []
    page.get_by_role("button", name="Check the chain").click()
    expect(page.get_by_text("chain intact.")).to_be_visible()
    window.close()
    assert window.console_errors == []


def test_the_intake_switch_and_a_limit(browser: Browser, keyed: tuple[Service, str]) -> None:
    """A pause shows its reason to everyone; a limit can be changed and reset; a bad value is explained."""
    service, key = keyed
    window, page = _open(browser, service, key)
    page.get_by_role("button", name="Pause intake…").click()
    page.get_by_label("Are refused").check()
    page.get_by_label("Reason, shown to authors").fill("The image is being replaced.")
    page.get_by_role("button", name="Pause intake", exact=True).click()
    expect(page.get_by_text("Paused: new submissions are refused.")).to_be_visible()
    page.get_by_role("link", name="Operations", exact=True).last.click()
    expect(page.get_by_text("new submissions are refused: The image is being replaced.")).to_be_visible()
    page.get_by_role("link", name="Control VMs, the intake and limits").click()
    page.get_by_role("button", name="Resume intake…").click()
    expect(page.get_by_test_id("effect")).to_contain_text("None is queued, so this costs nothing now.")
    page.get_by_role("button", name="Resume intake", exact=True).click()
    expect(page.get_by_text("Submissions are accepted and run.")).to_be_visible()
    limit = page.get_by_label("VMs at a time", exact=True)
    limit.fill("0")
    page.get_by_role("row", name="VMs at a time").get_by_role("button", name="Change…").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("a whole number from 1")
    page.get_by_role("button", name="Cancel").click()
    limit.fill("5")
    page.get_by_role("row", name="VMs at a time").get_by_role("button", name="Change…").click()
    expect(page.get_by_test_id("effect")).to_contain_text("More VMs can cost up to $")
    page.get_by_label("Reason, for the audit log").fill("A class begins.")
    page.get_by_role("button", name="Change limit").click()
    expect(page.get_by_test_id("audit-entry").first).to_contain_text("max vms: 3 → 5; A class begins.")
    page.get_by_role("button", name="Reset VMs at a time").click()
    page.get_by_role("button", name="Change limit").click()
    expect(page.get_by_role("button", name="Reset VMs at a time")).to_have_count(0)
    window.close()
    errors = [error for error in window.console_errors if "422" not in error]
    assert errors == []


def test_an_operator_cancels_anyones_submission_after_a_confirmation(
    browser: Browser, keyed: tuple[Service, str]
) -> None:
    """A paused queue holds a submission; cancelling it says what that saves, and the log says who did it."""
    service, key = keyed
    words = service.run("keys", "create", "--user", "bob").stdout.split()
    author = {"WARMFRONT_API_KEY": next(word for word in words if word.startswith("wf_"))}
    window, page = _open(browser, service, key)
    page.get_by_role("button", name="Pause intake…").click()
    expect(page.get_by_test_id("effect")).to_contain_text("No submission is queued now; new ones wait.")
    page.get_by_label("Reason, shown to authors").fill("A moment, please.")
    page.get_by_role("button", name="Pause intake", exact=True).click()
    example = ROOT / "examples" / "leaky_relu.hip"
    sent = [
        service.run("submit", example, "-p", "leaky-relu", "--detach", **author).stdout.strip()
        for _ in range(2)
    ]
    row = page.get_by_test_id("run-row")
    expect(row).to_have_count(2)
    page.get_by_role("button", name="Resume intake…").click()
    expect(page.get_by_test_id("effect")).to_contain_text(
        re.compile(r"2 queued submissions run now.*\$0\.\d+")
    )
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    row.first.get_by_role("button", name="Cancel leaky-relu of bob").click()
    expect(page.get_by_test_id("effect")).to_contain_text("It has not begun, and nothing is charged.")
    page.get_by_role("button", name="Cancel submission").click()
    expect(row).to_have_count(1)
    page.get_by_role("link", name="leaky-relu, submit").click()  # the other one
    page.get_by_role("button", name="Cancel…").click()
    expect(page.get_by_test_id("effect")).to_contain_text("Saves about $")
    page.get_by_role("button", name="Cancel submission").click()
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    page.goto("/operators")
    entries = page.get_by_test_id("audit-entry")
    expect(entries.first).to_contain_text("submission.cancel")
    for submission_id in sent:
        expect(entries.filter(has_text=submission_id)).to_contain_text("olga")
    page.get_by_role("button", name="Resume intake…").click()
    page.get_by_role("button", name="Resume intake", exact=True).click()
    expect(page.get_by_text("Submissions are accepted and run.")).to_be_visible()
    window.close()
    assert window.console_errors == []


def test_the_keep_warm_policy_is_changed_with_its_costs(browser: Browser, keyed: tuple[Service, str]) -> None:
    """The dialog says what this month would have cost with each policy."""
    service, key = keyed
    window, page = _open(browser, service, key)
    page.get_by_label("Keep-warm policy").select_option("adaptive")
    page.get_by_role("row", name="Keep-warm policy").get_by_role("button", name="Change…").click()
    expect(page.get_by_test_id("policy-costs")).to_contain_text(
        re.compile(r"with fixed 10 minutes it would have cost .*; with fixed 1 hour .*; with adaptive \$\d")
    )
    page.get_by_role("button", name="Cancel").click()
    window.close()
    assert window.console_errors == []


def test_keys_are_created_and_revoked_on_the_page(browser: Browser, keyed: tuple[Service, str]) -> None:
    """The secret is shown once and works; a user's key does not open the views."""
    service, key = keyed
    window, page = _open(browser, service, key)
    page.get_by_role("link", name="People, keys and teams").click()
    form = page.get_by_role("form", name="New API key")
    form.get_by_label("User").fill("ada")
    form.get_by_label("Team").fill("kernels")
    form.get_by_role("button", name="Create key").click()
    secret = page.get_by_label("The key of ada. It is not shown again.").input_value()
    expect(page.get_by_role("table", name="Teams").get_by_role("row", name="kernels ada")).to_be_visible()
    user = Window(browser, service.url)
    user.context.add_init_script(f"localStorage.setItem('warmfront.key', '{secret}')")
    for path in ("/operators", "/people"):
        expect(user.open(path).get_by_role("heading", name="Operators only")).to_be_visible()
    user.close()
    revoke = page.get_by_role("button", name=re.compile("^Revoke key .* of ada$"))
    revoke.click()
    page.get_by_role("button", name="Revoke key", exact=True).click()
    expect(revoke).to_have_count(0)
    assert service.run("vms", WARMFRONT_API_KEY=secret).returncode == 2
    page.get_by_role("link", name="Operators", exact=True).first.click()
    expect(page.get_by_test_id("audit-entry").first).to_contain_text("key.revoke")
    assert not any(secret in entry for entry in _entries(page))
    window.close()
    assert window.console_errors == []


def test_one_button_tests_every_channel_for_alerts(browser: Browser, tmp_path: Path) -> None:
    """The page shows the result of each channel, and the audit log has them."""
    with receiving([204, 404]) as webhook:
        channels = {"WARMFRONT_ALERT_WEBHOOK": webhook.url, "WARMFRONT_ALERT_SLACK_WEBHOOK": webhook.url}
        with serving(tmp_path, **REHEARSAL, **channels) as service:
            window = Window(browser, service.url)
            page = window.open("/operators")
            section = page.get_by_role("region", name="Alerts")
            section.get_by_role("button", name="Send a test message").click()
            results = section.get_by_role("status").get_by_role("paragraph")
            expect(results).to_have_count(2)
            lines = [line.strip() for line in results.all_inner_texts()]
            assert [line.split(":")[0] for line in lines] == ["webhook", "slack"]
            outcomes = sorted(line.split(": ")[1] for line in lines)
            assert outcomes == ["delivered", "the webhook responded with 404"]
            entry = page.get_by_test_id("audit-entry").first
            expect(entry).to_contain_text("alert.test")
            expect(entry).to_contain_text("webhook, slack")
            window.close()
    assert len(webhook.received) == 2
    assert "hunter2" not in "".join(lines)
