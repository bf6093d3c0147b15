"""Sign-in at a real OpenID Connect issuer on loopback: sessions, roles, invitations, and failures."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.support.issuer import Issuer, Person, serving_accounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.services import Service

pytestmark = pytest.mark.issuer


@pytest.fixture(scope="module")
def accounts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Issuer]]:
    """A service with an issuer; ada is an admin, and others need an invitation."""
    folder = tmp_path_factory.mktemp("accounts")
    with serving_accounts(folder, WARMFRONT_ADMINS="ada@example.com") as pair:
        yield pair


@pytest.fixture
def service(accounts: tuple[Service, Issuer]) -> Service:
    """The service."""
    return accounts[0]


@contextlib.contextmanager
def _person(service: Service) -> Iterator[Person]:
    person = Person(service.url)
    try:
        yield person
    finally:
        person.close()


def _invite(admin: Person, **fields: object) -> str:
    """Create an invitation and return its secret."""
    created = admin.http.post("/api/amd/invitations", json=fields)
    assert created.status_code == 201, created.text
    link = str(created.json()["link"])
    assert link.startswith(f"{admin.service_url}/join#inv_")
    return link.partition("#")[2]


def test_a_named_admin_signs_in_and_out(service: Service) -> None:
    """A session begins with the callback and ends with sign-out; without one, requests get 401."""
    with _person(service) as ada:
        assert ada.session()["user"] is None
        assert ada.session()["sign_in_name"] == "Test issuer"
        stranger = ada.http.get("/api/amd/submissions")
        assert (stranger.status_code, stranger.json()["code"]) == (401, "NOT_AUTHENTICATED")
        assert stranger.json()["detail"] == "A sign-in or an API key is required."
        assert stranger.json()["hint"].startswith("Sign in on the page, or send an API key")
        arrived = ada.sign_in("ada", return_to="/problems/relu")
        assert (arrived.status_code, arrived.headers["location"]) == (303, "/problems/relu")
        session = ada.session()
        assert (session["user"], session["role"], session["authentication"]) == ("ada", "admin", "session")
        assert (session["email"], session["display_name"]) == ("ada@example.com", "Ada Example")
        assert ada.http.get("/api/amd/submissions").status_code == 200
        token = _session_token(ada)
        assert ada.http.post("/api/amd/session/sign-out").status_code == 204
        assert _session_token(ada) is None
        ada.http.cookies.set(_cookie_name(service), token or "")  # a copy of the cookie is worthless
        refused = ada.http.get("/api/amd/submissions")
        assert (refused.status_code, refused.json()["detail"]) == (401, "Your session has ended.")
        assert refused.json()["hint"].startswith("Sign in on the page")


def test_cookies_are_protected_and_tokens_are_not_stored(service: Service) -> None:
    """Scripts cannot read the cookie, other sites do not send it, and the database has only its digest."""
    with _person(service) as ada:
        arrived = ada.sign_in("ada")
        cookie = next(
            header for header in arrived.headers.get_list("set-cookie") if "warmfront_session" in header
        )
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert "Secure" not in cookie  # plain HTTP on loopback
        token = _session_token(ada)
        assert token is not None
        with contextlib.closing(sqlite3.connect(service.data_dir / "warmfront.db")) as database:
            stored = "".join(map(str, database.execute("SELECT * FROM sessions").fetchall()))
        assert token not in stored
        assert token.split("_")[-1] not in stored
        assert token not in "".join(service.lines)


@pytest.mark.parametrize("origin", [None, "https://evil.example", "http://127.0.0.1:1", "null"])
def test_another_site_cannot_use_the_session(service: Service, origin: str | None) -> None:
    """A request that changes something and does not come from the page itself gets 403."""
    with _person(service) as ada:
        ada.sign_in("ada")
        if origin is None:
            del ada.http.headers["origin"]
        else:
            ada.http.headers["origin"] = origin
        refused = ada.http.post("/api/amd/invitations", json={})
        assert refused.status_code == 403, refused.text
        assert "Cross-site request" in refused.json()["detail"]
        assert ada.http.get("/api/amd/users").status_code == 200  # reading needs no Origin header


def test_someone_without_an_invitation_is_rejected(service: Service) -> None:
    """They are sent to a page that says why, and no account is created."""
    with _person(service) as eve, _person(service) as ada:
        arrived = eve.sign_in("eve")
        assert arrived.headers["location"] == "/sign-in?error=NOT_INVITED"
        assert eve.session()["user"] is None
        ada.sign_in("ada")
        names = [user["name"] for user in ada.http.get("/api/amd/users").json()["items"]]
        assert "eve" not in names


def test_an_unverified_address_does_not_make_an_admin(
    accounts: tuple[Service, Issuer], tmp_path: Path
) -> None:
    """WARMFRONT_ADMINS counts only addresses that the issuer has verified."""
    del accounts
    with (
        serving_accounts(tmp_path, WARMFRONT_ADMINS="unverified@example.com") as (service, _),
        _person(service) as mallory,
    ):
        arrived = mallory.sign_in("unverified")
        assert arrived.headers["location"] == "/sign-in?error=NOT_INVITED"


def test_an_invitation_works_once(service: Service) -> None:
    """It grants role, team and budget; a second person who uses it gets a clear error."""
    with _person(service) as ada, _person(service) as grace, _person(service) as eve:
        ada.sign_in("ada")
        secret = _invite(ada, role="author", team="kernels", daily_budget_usd=2.5, note="Grace")
        preview = grace.http.post("/api/amd/invitations/preview", json={"secret": secret}).json()
        assert (preview["role"], preview["team"], preview["invited_by"]) == ("author", "kernels", "ada")
        assert grace.sign_in("grace", invitation=secret).headers["location"] == "/"
        assert (grace.session()["role"], grace.session()["team"]) == ("author", "kernels")
        replayed = eve.begin(invitation=secret)
        assert (replayed.status_code, replayed.json()["code"]) == (403, "INVITATION_USED")
        assert (
            replayed.json()["detail"] == "The invitation has already been used. Each invitation works once."
        )
        (listed,) = [
            item for item in ada.http.get("/api/amd/invitations").json()["items"] if item["note"] == "Grace"
        ]
        assert (listed["state"], listed["used_by"]) == ("used", "grace")
        assert secret not in ada.http.get("/api/amd/invitations").text
        assert secret not in "".join(service.lines)


def test_an_invitation_that_is_used_while_another_person_signs_in(service: Service) -> None:
    """Two people start with the same link; the second one to return is rejected."""
    with _person(service) as ada, _person(service) as first, _person(service) as second:
        ada.sign_in("ada")
        secret = _invite(ada, role="reader")
        url = second.begin(invitation=secret).json()["url"]
        first.sign_in("barbara", invitation=secret)
        arrived = second.http.get(second.visit_issuer(url, "edsger"))
        assert arrived.headers["location"] == "/sign-in?error=INVITATION_USED"
        assert second.session()["user"] is None


def test_a_revoked_invitation_is_rejected(service: Service) -> None:
    """A link whose secret was changed is rejected, too."""
    with _person(service) as ada, _person(service) as eve:
        ada.sign_in("ada")
        secret = _invite(ada)
        changed = secret[:-1] + ("0" if secret[-1] != "0" else "1")
        assert eve.begin(invitation=changed).json()["code"] == "INVITATION_UNKNOWN"
        invitation_id = secret.split("_")[1]
        assert ada.http.post(f"/api/amd/invitations/{invitation_id}/revoke").status_code == 200
        assert eve.begin(invitation=secret).json()["code"] == "INVITATION_REVOKED"
        again = ada.http.post(f"/api/amd/invitations/{invitation_id}/revoke")
        assert again.status_code == 404


def test_only_admins_manage_people(service: Service) -> None:
    """Others get 403 with the role that they need; an admin cannot lock themselves out."""
    with _person(service) as ada, _person(service) as alan:
        ada.sign_in("ada")
        alan.sign_in("alan", invitation=_invite(ada, role="operator"))
        refused = alan.http.get("/api/amd/users")
        assert (refused.status_code, refused.json()["role_needed"]) == (403, "admin")
        kept = ada.http.post("/api/amd/users/ada", json={"role": "reader"})
        assert kept.status_code == 409
        changed = ada.http.post("/api/amd/users/alan", json={"role": "reader", "team": "kernels"})
        assert (changed.json()["role"], changed.json()["team"]) == ("reader", "kernels")
        assert alan.session()["role"] == "reader"
        ada.http.post("/api/amd/users/alan", json={"role": "reader", "disabled": True})
        assert alan.session()["user"] is None
        assert alan.sign_in("alan").headers["location"] == "/sign-in?error=SIGN_IN_REJECTED"


def test_a_callback_of_another_browser_is_rejected(service: Service) -> None:
    """The state belongs to the browser that started the sign-in (login CSRF)."""
    with _person(service) as ada, _person(service) as victim:
        url = ada.begin().json()["url"]
        callback = ada.visit_issuer(url, "ada")
        assert victim.http.get(callback).headers["location"] == "/sign-in?error=SIGN_IN_FAILED"
        victim.begin()  # with a sign-in of its own in progress
        assert victim.http.get(callback).headers["location"] == "/sign-in?error=SIGN_IN_FAILED"
        assert victim.session()["user"] is None
        assert ada.http.get(callback).headers["location"] == "/"
        assert ada.http.get(callback).headers["location"] == "/sign-in?error=SIGN_IN_FAILED"  # replayed


def test_a_sign_in_returns_only_to_this_service(service: Service) -> None:
    """A link to the sign-in cannot be used to redirect to another site."""
    with _person(service) as ada:
        for path in ("https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"):
            assert ada.sign_in("ada", return_to=path).headers["location"] == "/"


def test_a_page_of_another_user_is_rejected(service: Service) -> None:
    """A tab that was opened by one user does not act for another who signed in since, and nothing is lost."""
    with _person(service) as browser:
        browser.sign_in("ada")
        secret = _invite(browser, role="author")
        opened = {"X-Warmfront-User": "ada"}
        assert browser.http.get("/api/amd/submissions", headers=opened).status_code == 200
        browser.http.cookies.clear()
        browser.sign_in("lovelace", invitation=secret)
        refused = browser.http.get("/api/amd/submissions", headers=opened)
        assert (refused.status_code, refused.json()["code"]) == (409, "USER_CHANGED")
        assert "lovelace is signed in now" in refused.json()["detail"]


def test_a_key_of_a_program_works_beside_the_session(service: Service) -> None:
    """Keys of the command line are accepted; the local user is not."""
    secret = service.run("keys", "create", "--user", "robot", "--role", "reader").stdout.strip()
    with _person(service) as robot:
        robot.http.headers["authorization"] = f"Bearer {secret}"
        assert robot.session()["user"] == "robot"
        assert robot.session()["authentication"] == "key"


def test_an_issuer_that_is_down(tmp_path: Path) -> None:
    """The sign-in gets 503 with a reason; keys still work, and existing sessions continue."""
    with (
        serving_accounts(tmp_path, WARMFRONT_ADMINS="ada@example.com") as (service, issuer),
        _person(service) as ada,
        _person(service) as late,
    ):
        ada.sign_in("ada")
        callback = late.visit_issuer(late.begin().json()["url"], "ada")
        issuer.stop()
        assert late.http.get(callback).headers["location"] == "/sign-in?error=ISSUER_UNAVAILABLE"
        assert ada.session()["user"] == "ada"
    with serving_accounts(tmp_path) as (service, issuer):
        issuer.stop()
        with _person(service) as late:
            refused = late.begin()
            assert (refused.status_code, refused.json()["code"]) == (503, "ISSUER_UNAVAILABLE")
            assert "Test issuer is unavailable" in refused.json()["detail"]
            assert issuer.url not in refused.text


def _cookie_name(service: Service) -> str:
    return f"warmfront_session_{service.url.rpartition(':')[2]}"


def _session_token(person: Person) -> str | None:
    return next(
        (cookie.value for cookie in person.http.cookies.jar if "warmfront_session" in cookie.name), None
    )
