"""Sign-in with a standby: both services are behind one address and on one PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.issuer import Issuer, Person, issuing
from tests.support.services import EXAMPLE, PROMPT_S, Service
from tests.support.standby_pair import standby_pair

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.databases import PostgresServer

pytestmark = pytest.mark.issuer

#: The address of the proxy in front of both services. There is none: a test sends each request to a service.
PUBLIC_URL = "http://127.0.0.1:9"
FAST = {"WARMFRONT_BUG_FINDER": "false", "WARMFRONT_PUBLIC_URL": PUBLIC_URL}


def _settings(issuer: Issuer) -> dict[str, str]:
    return issuer.settings(WARMFRONT_ADMINS="ada@example.com", **FAST)


def _sign_in(person: Person, name: str) -> httpx.Response:
    """Sign in; the proxy passes the callback on to the person's current service."""
    begun = person.begin()
    assert begun.status_code == 200, begun.text
    callback = urlsplit(person.visit_issuer(begun.json()["url"], name))
    return person.http.get(f"{callback.path}?{callback.query}")


def _use(person: Person, service: Service) -> None:
    """Let the proxy send the requests of a person to this service."""
    person.http.base_url = httpx.URL(service.url)


def test_a_session_survives_the_takeover(tmp_path: Path, postgres: PostgresServer) -> None:
    """It is valid on the standby before, and on the new active service after, `kill -9` of the other one."""
    database = postgres.new_database(tables=False)
    with (
        issuing(f"{PUBLIC_URL}/auth/callback") as issuer,
        standby_pair(tmp_path, database, **_settings(issuer)) as pair,
    ):
        ada, grace = Person(PUBLIC_URL), Person(PUBLIC_URL)
        _use(ada, pair.active)
        assert _sign_in(ada, "ada").status_code == 303
        invited = ada.http.post("/api/amd/invitations", json={"role": "author", "team": "kernels"})
        secret = invited.json()["link"].partition("#")[2]

        stranger = httpx.get(f"{pair.standby.url}/api/amd/submissions", timeout=PROMPT_S)
        assert stranger.status_code == 401  # and not the local user
        _use(ada, pair.standby)
        assert ada.session()["user"] == "ada"
        assert ada.http.get("/api/amd/users").json()["items"][0]["name"] == "ada"
        _use(grace, pair.standby)
        refused = grace.begin(invitation=secret)
        assert (refused.status_code, refused.json()["code"]) == (503, "ON_STANDBY")

        pair.active.kill()
        pair.wait_for_takeover()
        before = ada.session()
        assert (before["user"], before["role"], before["authentication"]) == ("ada", "admin", "session")
        submitted = ada.http.post(
            "/api/amd/submit",
            json={"solution_code": EXAMPLE, "problem": "leaky-relu", "endpoint": "checker"},
            headers={"Accept": "application/json"},
        )
        assert submitted.status_code == 202, submitted.text
        begun = grace.begin(invitation=secret)  # the invitation was created by the service that is gone
        callback = urlsplit(grace.visit_issuer(begun.json()["url"], "grace"))
        assert grace.http.get(f"{callback.path}?{callback.query}").status_code == 303
        assert (grace.session()["user"], grace.session()["team"]) == ("grace", "kernels")
        assert ada.http.post("/api/amd/session/sign-out").status_code == 204

        pair.active.start()  # now the standby of the other one
        _use(ada, pair.active)
        assert ada.session()["user"] is None  # signed out on both
        for person in (ada, grace):
            person.close()


def test_the_first_admin_is_invited_on_the_machine(tmp_path: Path, postgres: PostgresServer) -> None:
    """The log says that there is no admin; a command prints a link, and then others can be invited."""
    database = postgres.new_database(tables=False)
    service = Service(tmp_path, WARMFRONT_DATABASE_URL=database)
    with issuing(f"{service.url}/auth/callback") as issuer:
        service.environment.update(issuer.settings())
        service.start()
        try:
            assert any("no user is an admin; `warmfront users invite" in line for line in service.lines)
            done = service.run("users", "invite", "--role", "admin", "--note", "the first")
            assert done.returncode == 0, done.stderr
            link = done.stdout.strip()
            assert link.startswith(f"{service.url}/join#inv_")
            assert "works once" in done.stderr
            ada = Person(service.url)
            assert ada.sign_in("ada", invitation=link.partition("#")[2]).status_code == 303
            assert ada.session()["role"] == "admin"
            assert ada.http.post("/api/amd/invitations", json={"role": "author"}).status_code == 201
            entries = ada.http.get("/api/amd/audit?action=invitation.create").json()["items"]
            assert [entry["via"] for entry in entries] == ["session", "command line"]
            assert link.partition("#")[2] not in str(entries)
            ada.close()
            users = service.run("users", "list")
            assert "ada@example.com  admin" in users.stdout
        finally:
            service.stop()
        service.start()
        try:
            assert not any("no user is an admin" in line for line in service.lines[len(service.lines) - 5 :])
        finally:
            service.stop()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--role", "boss"), "--role is 'boss'."),
        (("--budget", "much"), "--budget is 'much'."),
        (("--valid-for", "1y"), "--valid-for is '1y'; allowed: a duration from 1m to 90d."),
        (("--team", "a b"), "--team is 'a b', which is not a valid name."),
    ],
)
def test_an_invitation_with_a_bad_option_is_refused(
    tmp_path: Path, options: tuple[str, str], message: str
) -> None:
    """The error names the option and its value."""
    issuer = {
        "WARMFRONT_OIDC_ISSUER": "google",
        "WARMFRONT_OIDC_CLIENT_ID": "a",
        "WARMFRONT_OIDC_CLIENT_SECRET": "b",
    }
    done = Service(tmp_path, **issuer).run("users", "invite", *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_an_invitation_needs_sign_in(tmp_path: Path) -> None:
    """Without an issuer, no one could accept it."""
    done = Service(tmp_path).run("users", "invite")
    assert done.returncode == 2
    assert "WARMFRONT_OIDC_ISSUER is not set" in done.stderr
