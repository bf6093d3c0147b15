"""A service with accounts for its views: people of every role, a team, keys and shared results.

The usage of earlier days is written to the store before the service starts; people sign in at a real issuer.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.browser.populated_service import WRONG, write_gpu_results
from tests.browser.usage_history import write_usage_history
from tests.support.issuer import Person, serving_accounts
from tests.support.services import EXAMPLE, REHEARSAL
from warmfront.gpus import MI300X
from warmfront.settings import Settings
from warmfront.store import event_queries, submission_queries
from warmfront.store.sql_database import open_store
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import BrowserContext, Page
    from sqlalchemy import Connection

    from tests.browser.browser_window import Window
    from tests.support.services import Service

TEAM = "gpu-class-2026"


@dataclass(frozen=True, kw_only=True)
class AccountsService:
    """The service, its people by name, and the links that its views need."""

    service: Service
    people: dict[str, Person]
    invitation: str  #: the path of an open invitation
    used_invitation: str
    shared: str  #: the id of a shared submission
    private: str  #: the id of a share that was made private
    submission: str  #: the submission that is shared; lena's

    @property
    def views(self) -> dict[str, tuple[str, str]]:
        """The person who opens a view (empty for a stranger) and its path, by a short name."""
        return {
            "account": ("lena", "/account"),
            "account-new": ("noor", "/account"),
            "people": ("lena", "/people"),
            "team-manager": ("lena", f"/team?name={TEAM}"),
            "team-member": ("mika", "/team"),
            "team-none": ("noor", "/team"),
            "operators-full": ("lena", "/operators"),
            "operators-refused": ("mika", "/operators"),
            "people-operator": ("tomas", "/people"),
            "submission-own": ("lena", f"/submissions/{self.submission}"),
            "sign-in": ("", "/sign-in"),
            "sign-in-failed": ("", "/sign-in?error=SIGN_IN_FAILED"),
            "join": ("", self.invitation),
            "join-used": ("", self.used_invitation),
            "shared": ("", f"/s/{self.shared}"),
            "shared-list-filled": ("", "/shared"),
            "shared-private": ("", f"/s/{self.private}"),
            "embed": ("", f"/embed/{self.shared}"),
            "embed-private": ("", f"/embed/{self.private}"),
        }

    @property
    def dialogs(self) -> dict[str, tuple[str, str, re.Pattern[str]]]:
        """The person who opens a dialog, the path of its view and its button, by a short name."""
        return {
            "dialog-user": ("lena", "/people", re.compile("^Change mika$")),
            "dialog-team-budget": ("lena", "/people", re.compile("^Change the budget of")),
            "dialog-revoke-key": ("lena", "/people", re.compile("^Revoke key")),
            "dialog-drain": ("lena", "/operators", re.compile("^Drain VM")),
            "dialog-pause": ("lena", "/operators", re.compile("^Pause intake")),
            "share-menu": ("lena", f"/submissions/{self.submission}", re.compile("^Share$")),
        }

    def open(self, window: Window, name: str, path: str) -> Page:
        """Open a path with the session of a person."""
        # Leave the page first: its requests would fail without a session, and a fragment alone loads nothing.
        window.page.goto("about:blank")
        self.add_session(window.context, name)
        return window.open(path)

    def add_session(self, context: BrowserContext, name: str) -> None:
        """Add the session of a person to a browser; none for an empty name."""
        context.clear_cookies()
        if not name:
            return
        cookies = [cookie for cookie in self.people[name].http.cookies.jar if "session" in cookie.name]
        context.add_cookies(
            [{"name": cookie.name, "value": str(cookie.value), "url": self.service.url} for cookie in cookies]
        )


@contextlib.contextmanager
def accounts_service(data_dir: Path) -> Iterator[AccountsService]:
    """Run a service with accounts until the end of the block."""
    write_gpu_results(data_dir)
    write_usage_history(data_dir)
    _write_local_history(data_dir)
    with serving_accounts(
        data_dir, WARMFRONT_ADMINS="lena@example.com", AMD_VM_IDLE_TIMEOUT="3600", **REHEARSAL
    ) as (service, _):
        people = {name: Person(service.url) for name in ("lena", "mika", "noor", "tomas")}
        yield _fill(service, people)
        for person in people.values():
            person.close()


def _fill(service: Service, people: dict[str, Person]) -> AccountsService:
    lena = people["lena"]
    assert lena.sign_in("lena").is_redirect
    links = {
        "mika": _invite(lena, team=TEAM, manages_team=True, daily_budget_usd=2.5, note="Mika"),
        "noor": _invite(lena, role="reader", note="Noor, for a look around"),
        "tomas": _invite(lena, role="operator", team=TEAM),
        "": _invite(lena, team=TEAM, daily_budget_usd=10, note="A student who begins in the second week"),
    }
    for name in ("mika", "noor", "tomas"):
        assert people[name].sign_in(name, invitation=links[name].split("#")[1]).is_redirect
    _post(lena, "account/claim-local-history")
    _post(lena, f"operators/teams/{TEAM}/budget", daily_budget_usd=5)
    revoked = _post(lena, "invitations", note="Sent to the wrong address")
    _post(lena, f"invitations/{revoked['id']}/revoke")
    for problem, title, deadline in (
        ("leaky-relu", "Week 1: your first kernel", "2099-01-31T12:00:00Z"),
        ("matmul", "Week 2: tiles in LDS", "2099-02-07T12:00:00Z"),
    ):
        _post(lena, f"teams/{TEAM}/assignments", problem=problem, title=title, deadline_at=deadline)
    submissions = {name: _judge(people[name], code) for name, code in (("lena", EXAMPLE), ("mika", EXAMPLE))}
    _judge(people["mika"], WRONG, endpoint="checker")
    _post(lena, "account/keys")
    _post(lena, "operators/keys", user="nightly-regressions", team=TEAM)
    _post(lena, "operators/keys", user="prometheus", role="reader")
    shared = _post(lena, f"submissions/{submissions['lena']}/share", visibility="unlisted")
    second = _judge(lena, WRONG, endpoint="checker")
    _post(lena, f"submissions/{second}/share", visibility="public")
    private = _post(people["mika"], f"submissions/{submissions['mika']}/share", visibility="unlisted")
    _post(people["mika"], f"submissions/{submissions['mika']}/share", visibility="private")
    _post(lena, "limits", changes={"max_vms": "5"}, reason="The class begins.")
    return AccountsService(
        service=service,
        people=people,
        invitation=links[""].removeprefix(service.url),
        used_invitation=links["noor"].removeprefix(service.url),
        shared=shared["id"],
        private=private["id"],
        submission=submissions["lena"],
    )


def _write_local_history(data_dir: Path) -> None:
    """Write a year of submissions of the user `local`, from before sign-in was set up."""

    async def write() -> None:
        store = await open_store(Settings(data_dir=data_dir))
        try:
            for day in range(2, 360):
                for number in range(_submissions_on(day)):
                    await store.database.write(_write_finished, day, number)
        finally:
            await store.close()

    # In a thread, since Playwright's event loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, write()).result()


def _submissions_on(day: int) -> int:
    """Return how many submissions there were that many days ago: busy weeks and quiet ones."""
    return max(0, (day * 7) % 13 - 6) if (day // 21) % 3 else 0


def _write_finished(conn: Connection, day: int, number: int) -> None:
    created_at = time.time() - 86_400 * day + number
    new = NewSubmission(
        id=f"sub_local_{day}_{number}",
        owner="local",
        problem="leaky-relu",
        gpu=MI300X.name,
        dtype="float32",
        language="hip",
        endpoint="checker",
        file_name="solution.hip",
        code=EXAMPLE,
        created_at=created_at,
    )
    queue = {"status": "IN_QUEUE", "submission_id": new.id, "position": 0, "quote": {"wait_s": 0.0}}
    submission_queries.create(conn, new, queue)
    event_queries.complete(conn, new.id, {"status": "CHECKED"}, created_at + 5, cost_usd=Decimal(0))


def _invite(person: Person, **fields: Any) -> str:
    return str(_post(person, "invitations", **fields)["link"])


def _post(person: Person, path: str, **fields: Any) -> dict[str, Any]:
    response = person.http.post(f"/api/amd/{path}", json=fields)
    assert response.is_success, response.text
    return dict(response.json())


def _judge(person: Person, code: str, endpoint: str = "submit") -> str:
    """Submit a kernel, wait for its verdict, and return the id."""
    response = person.http.post(
        "/api/amd/submit",
        json={"solution_code": code, "problem": "leaky-relu", "endpoint": endpoint},
        headers={"Accept": "application/json"},
    )
    assert response.status_code == 202, response.text
    submission_id = str(response.json()["id"])
    with person.http.stream("GET", f"/api/amd/submissions/{submission_id}/events") as stream:
        for _ in stream.iter_lines():
            pass  # until the verdict
    return submission_id
